/** Formats a diagnostic for a terminal: place, message, the line with a caret, the hint. */

import { isAbsolute, relative } from 'node:path'
import type { Diagnostic, Place } from './diagnostic.ts'

/** Longer lines are cut around the caret. */
const shownColumns = 100

/**
 * Returns one diagnostic as text without colour and without a final line break. The first line is `file:line:column:
 * severity: message [CODE]`. A file below `folder` is shown relative to it.
 */
export function formatDiagnostic(diagnostic: Diagnostic, folder: string): string {
  const { severity, code, message, place, hint } = diagnostic
  const head = `${severity}: ${printable(message)} [${code}]`
  const lines = place ? [`${formatPlace(place, folder)}: ${head}`, ...excerpt(place)] : [head]
  if (hint) lines.push(`  hint: ${printable(hint)}`)
  return lines.join('\n')
}

/** Returns `file:line:column`, with the file as {@link shownFile} returns it. */
export function formatPlace(place: Place, folder: string): string {
  return `${shownFile(place, folder)}:${place.line}:${place.column}`
}

/** Returns a path below `folder` relative to it. A file of an installed package is shown by its name. */
export function shownFile({ file, calledFile }: Pick<Place, 'file' | 'calledFile'>, folder: string): string {
  const below = relative(folder, file).replaceAll('\\', '/')
  const inside = below !== '' && !below.startsWith('..') && !isAbsolute(below)
  if (inside && (calledFile === undefined || !below.includes('node_modules/'))) return below
  return calledFile ?? file
}

function excerpt(place: Place): string[] {
  if (place.text.trim() === '') return []
  const caret = Math.min((place.caret ?? place.column) - 1, place.text.length)
  const from = caret > shownColumns - 20 ? caret - shownColumns / 2 : 0
  const text = printable(place.text.slice(from, from + shownColumns))
  const before = printable(place.text.slice(from, caret))
  const gutter = `  ${place.line} | `
  const cutStart = from > 0 ? '…' : ''
  const cutEnd = place.text.length > from + shownColumns ? '…' : ''
  return [
    `${gutter}${cutStart}${text}${cutEnd}`,
    `${' '.repeat(gutter.length - 2)}| ${cutStart && ' '}${blanks(before)}^`,
  ]
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Returns as much white space as the text is wide in a terminal. */
export function blanks(text: string): string {
  let result = ''
  for (const character of text) {
    if (character === '\t') result += '\t'
    else if (/[\p{Mark}\u200b-\u200d]/u.test(character)) continue
    else result += wide.test(character) ? '  ' : ' '
  }
  return result
}

/** Removes characters with which a file's text could control the terminal that shows it. */
function printable(text: string): string {
  return text.replace(/(?!\t)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}
