/** Owns what a line of JSON tells of a turn that still goes on. */

import type { Progress } from '@reveille/kit'
import type { OutputConfiguration } from '../configuration.ts'
import { textOf } from './fields.ts'
import { compileField, compileMatch, compilePointer } from './pointer.ts'

/** Characters of a note: it is a few words, whatever a pointer finds. */
const longestNote = 200

/** Without rules, the lines that hold the reply tell it. */
export function compileProgress(output: OutputConfiguration): (value: unknown) => Progress | undefined {
  if (output.progress === undefined) {
    const text = compileField(output.text)
    return (value) => asText(textOf(text(value)))
  }
  const rules = output.progress.map(({ match, text, note }) => ({
    match: compileMatch(match),
    text: compileField(text),
    note: note === undefined ? undefined : compileNote(note),
  }))
  return (value) => {
    const rule = rules.find((each) => each.match(value))
    if (rule === undefined) return undefined
    return { ...asText(textOf(rule.text(value))), ...(rule.note && { note: rule.note(value) }) }
  }
}

function asText(text: string | undefined): Progress | undefined {
  return text ? { text } : undefined
}

function compileNote(template: string): (value: unknown) => string {
  const pieces = template.split(/\{(\/[^}]*)\}/).map((piece, index) => {
    if (index % 2 === 0) return () => piece
    const pointer = compilePointer(piece)
    return (value: unknown) => textOf(pointer(value)) ?? ''
  })
  return (value) =>
    pieces
      .map((piece) => piece(value))
      .join('')
      .slice(0, longestNote)
}
