/** Edits a configuration that a person wrote, and keeps everything else in the file byte for byte. */

import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@reveille/engine'
import { type Change, makeChange } from './change.ts'
import { NotEditable, parseText } from './parsed-text.ts'

/** An edit at a path of names from the outside in: `['hooks', 'endpoints', 'forge/push']`. */
export type Edit = SetEdit | IncludeEdit

/** Sets a value, with the maps on the way to it that are missing. Only the parts of an existing value that differ are changed. */
export interface SetEdit {
  readonly set: readonly string[]
  /** The plain value: a `${` in it is no reference, and is written as `$${`. Undefined removes the key. */
  readonly to: unknown
  /**
   * The value that the gateway has now, references resolved. Where `to` is the same, the written value
   * stays, such as `account: "${ACCOUNT}"`.
   */
  readonly was?: unknown
  /** Keys of the map at `set` that are not changed. All others that `to` lacks are removed. */
  readonly keep?: readonly string[]
  /** Adds to the map at `set`: its other keys stay, and references in `to` count as such. */
  readonly adds?: true
}

/** Adds an item at the end of a list, unless `is` accepts one of its items. */
export interface IncludeEdit {
  readonly include: readonly string[]
  readonly item: unknown
  /** Is called with each item as it is written. */
  readonly matches: (existing: unknown) => boolean
}

/**
 * Makes all edits in their order; returns the same text where nothing is to change. Comments stay, also those of
 * entries that are removed. @throws NotEditable with a sentence
 */
export function editConfiguration(text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, edit) => {
    const { value } = parseText(edited)
    const changes = 'set' in edit ? changesOfSet(value, edit) : changesOfInclude(value, edit)
    return changes.reduce(makeChange, edited)
  }, text)
}

function changesOfSet(written: unknown, { set, to, was, keep = [], adds }: SetEdit): readonly Change[] {
  const existing = valueAt(written, set)
  if (to === undefined) return existing === undefined ? [] : [{ kind: 'remove', path: set }]
  if (!adds || !isRecord(existing)) return differences(set, existing, plain(to), was, keep, adds)
  return Object.entries(to as object).flatMap(([key, value]) =>
    putUnlessEqual([...set, key], valueAt(existing, [key]), value, adds),
  )
}

function changesOfInclude(written: unknown, { include, item, matches }: IncludeEdit): readonly Change[] {
  const existing = valueAt(written, include)
  const value = escapeReferences(plain(item))
  if (existing === undefined || existing === null) return [{ kind: 'put', path: include, value: [value] }]
  return Array.isArray(existing) && existing.some(matches) ? [] : [{ kind: 'append', path: include, value }]
}

/** The smallest changes that make the value: a map is replaced as a whole only where no key of it would stay. */
function differences(
  path: readonly string[],
  written: unknown,
  to: unknown,
  was: unknown,
  keep: readonly string[] = [],
  hasReferences = false,
): readonly Change[] {
  if (written !== undefined && isDeepStrictEqual(to, was)) return []
  if (!isRecord(written) || !isRecord(to)) return putUnlessEqual(path, written, to, hasReferences)
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

function putUnlessEqual(
  path: readonly string[],
  written: unknown,
  to: unknown,
  hasReferences = false,
): readonly Change[] {
  const value = hasReferences ? to : escapeReferences(to)
  return isDeepStrictEqual(written, value) ? [] : [{ kind: 'put', path, value }]
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )
}

/** The value as a file can hold it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Adds `section.name: entry`; references in it count as such. A section in braces on one line is broken into lines; a missing
 * one is added at the end. A file that is in braces as a whole stays so, and JSON stays JSON.
 *
 * @throws NotEditable with a sentence
 */
export function addToConfiguration(
  text: string,
  section: string,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): string {
  const entries = parseText(text).value[section]
  if (isRecord(entries) && Object.hasOwn(entries, name))
    throw new NotEditable(`It has ${section}.${name} already.`)
  return makeChange(text, { kind: 'put', path: [section, name], value: entry })
}

/** Escapes texts that look like references and are none. */
export function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escapeReferences)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escapeReferences(inner)]))
}
