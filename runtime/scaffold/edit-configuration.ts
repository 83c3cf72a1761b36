/** Owns changes to a configuration that a person wrote: whatever is not meant stays as it is, byte for byte. */

import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@reveille/engine'
import { type Change, makeChange } from './change.ts'
import { escapeReferences } from './printed.ts'
import { read } from './written.ts'

/** What is to stand there afterwards. Names from the outside in: `['hooks', 'endpoints', 'gmail/push']`. */
export type Edit = SetEdit | IncludeEdit

/** The value, and what leads to it where that is missing. Of a value that is there, only what differs changes. */
export interface SetEdit {
  readonly set: readonly string[]
  /** As it is meant: a `${` in it is no reference, and is written as `$${`. Undefined: nothing. */
  readonly to: unknown
  /**
   * What the gateway makes of what is written there now, references and all. Where `to` says the same, what is written
   * stays: `account: "${ACCOUNT}"`.
   */
  readonly was?: unknown
  /** Keys of the map at `set` that stay as they are, whatever they hold. All others that `to` lacks are taken out. */
  readonly keep?: readonly string[]
}

/** One more item at the end of a list, unless it holds one for which `is` says so. */
export interface IncludeEdit {
  readonly include: readonly string[]
  readonly item: unknown
  /** Is asked about each item, as it is written. */
  readonly is: (existing: unknown) => boolean
}

/**
 * The text with all edits made, in their order; the same text where all of it is there already. Comments stay, those of
 * what is taken out included. @throws NotAddable with a sentence
 */
export function editConfiguration(text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, edit) => {
    const { value } = read(edited)
    const changes = 'set' in edit ? changesOfSet(value, edit) : changesOfInclude(value, edit)
    return changes.reduce(makeChange, edited)
  }, text)
}

function changesOfSet(written: unknown, { set, to, was, keep = [] }: SetEdit): readonly Change[] {
  const existing = valueAt(written, set)
  if (to === undefined) return existing === undefined ? [] : [{ kind: 'remove', path: set }]
  return differences(set, existing, plain(to), was, keep)
}

function changesOfInclude(written: unknown, { include, item, is }: IncludeEdit): readonly Change[] {
  const existing = valueAt(written, include)
  const value = escapeReferences(plain(item))
  if (existing === undefined || existing === null) return [{ kind: 'put', path: include, value: [value] }]
  return Array.isArray(existing) && existing.some(is) ? [] : [{ kind: 'append', path: include, value }]
}

/** From the inside out; a map is replaced as a whole only where nothing of it would stay. */
function differences(
  path: readonly string[],
  written: unknown,
  to: unknown,
  was: unknown,
  keep: readonly string[] = [],
): readonly Change[] {
  if (written !== undefined && isDeepStrictEqual(to, was)) return []
  if (!isRecord(written) || !isRecord(to)) return putUnlessEqual(path, written, to)
  const gone = Object.keys(written).filter((key) => !Object.hasOwn(to, key) && !keep.includes(key))
  if (gone.length === Object.keys(written).length) return putUnlessEqual(path, written, to)
  return [
    ...Object.entries(to)
      .filter(([key]) => !keep.includes(key))
      .flatMap(([key, value]) =>
        differences([...path, key], valueAt(written, [key]), value, valueAt(was, [key])),
      ),
    ...gone.map((key): Change => ({ kind: 'remove', path: [...path, key] })),
  ]
}

function putUnlessEqual(path: readonly string[], written: unknown, to: unknown): readonly Change[] {
  const value = escapeReferences(to)
  return isDeepStrictEqual(written, value) ? [] : [{ kind: 'put', path, value }]
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )
}

/** As a file can hold it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
