/** Edits a configuration that a person wrote, and keeps everything else in the file byte for byte. */

import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@reveille/engine'
import { type Change, makeChange } from './change.ts'
import { parseText } from './parsed-text.ts'

/** An edit at a path of names from the outside in: `['hooks', 'endpoints', 'forge/push']`. References in values count as such. */
export type Edit = SetEdit | IncludeEdit

/** Sets a value, with the maps on the way to it that are missing. */
export interface SetEdit {
  readonly set: readonly string[]
  /** Undefined removes the key. */
  readonly to: unknown
}

/** Adds an item at the end of a list, unless `matches` accepts one of its items. */
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
    const change = 'set' in edit ? changeOfSet(value, edit) : changeOfInclude(value, edit)
    return change === undefined ? edited : makeChange(edited, change)
  }, text)
}

function changeOfSet(written: unknown, { set: path, to }: SetEdit): Change | undefined {
  const existing = valueAt(written, path)
  if (to === undefined) return existing === undefined ? undefined : { kind: 'remove', path }
  return isDeepStrictEqual(existing, to) ? undefined : { kind: 'put', path, value: to }
}

function changeOfInclude(
  written: unknown,
  { include: path, item, matches }: IncludeEdit,
): Change | undefined {
  const existing = valueAt(written, path)
  if (existing === undefined || existing === null) return { kind: 'put', path, value: [item] }
  const isListed = Array.isArray(existing) && existing.some(matches)
  return isListed ? undefined : { kind: 'append', path, value: item }
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )
}

/** Escapes texts that look like references and are none. */
export function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escapeReferences)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escapeReferences(inner)]))
}
