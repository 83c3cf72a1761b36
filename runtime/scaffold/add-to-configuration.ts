/** Owns a new entry in a configuration that a person wrote: everything else in the file stays as it is, byte for byte. */

import { isRecord } from '@reveille/engine'
import { makeChange } from './change.ts'
import { NotAddable } from './not-addable.ts'
import { read } from './written.ts'

type Entry = Readonly<Record<string, unknown>>

/**
 * The text with `section.name: entry` in it; references in it are ones. A section in braces on one line becomes lines; one
 * that is not there comes at the end. What stands in braces as a whole stays so, and JSON stays JSON.
 * @throws NotAddable with a sentence
 */
export function addToConfiguration(text: string, section: string, name: string, entry: Entry): string {
  const entries = read(text).value[section]
  if (isRecord(entries) && Object.hasOwn(entries, name)) {
    throw new NotAddable(`It has ${section}.${name} already.`)
  }
  return makeChange(text, { kind: 'put', path: [section, name], value: entry })
}
