/** Owns changes to a configuration that a person wrote: whatever is not meant stays as it is, byte for byte. */

import { addToConfiguration } from './add-to-configuration.ts'

/** What is to stand there afterwards. Names from the outside in: `['hooks', 'endpoints', 'gmail/push']`. */
export type Edit = SetEdit | IncludeEdit

/** The value, and what leads to it where that is missing. Of a value that is there, only what differs changes. */
export interface SetEdit {
  readonly set: readonly string[]
  /** As it is meant: a `${` in it is no reference, and is written as `$${`. */
  readonly to: unknown
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
 * The text with all edits made, in their order; the same text where all of it is there already.
 * @throws NotAddable with a sentence
 */
export function editConfiguration(text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, edit) => {
    if (!('set' in edit) || edit.set.length !== 2) return edited
    const [section = '', name = ''] = edit.set
    return addToConfiguration(edited, section, name, edit.to as Record<string, unknown>)
  }, text)
}
