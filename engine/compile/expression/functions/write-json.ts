/** Owns writing large values as JSON in turns. */

import { isCallable } from '../library.ts'
import type { Turns } from '../scheduler.ts'
import { createPieces } from './pieces.ts'

/** Pieces that are written between two looks at the clock: far down, each of them comes through all levels. */
const look = 64

/**
 * As the library's `$string` does: numbers with 15 digits, functions as empty texts.
 * `indent`: spaces for each level; 0 writes all in one line.
 */
export async function writeJson(value: unknown, indent: number, turn: Turns['turn']): Promise<string> {
  const pieces = createPieces()
  let count = 0
  for (const piece of piecesOf(value, indent, '')) {
    pieces.add(piece)
    count += 1
    if (count % look === 0) await turn()
  }
  return pieces.text()
}

function* piecesOf(value: unknown, indent: number, margin: string): Generator<string, void> {
  if (typeof value !== 'object' || value === null || isCallable(value)) {
    yield scalarText(value)
    return
  }
  const isList = Array.isArray(value)
  const inner = margin + ' '.repeat(indent)
  const lead = indent === 0 ? '' : `\n${inner}`
  let separator = ''
  yield isList ? '[' : '{'
  for (const [key, child] of entriesOf(value)) {
    yield separator + lead
    separator = ','
    if (!isList) yield JSON.stringify(key) + (indent === 0 ? ':' : ': ')
    yield* piecesOf(child, indent, inner)
  }
  if (indent > 0 && separator !== '') yield `\n${margin}`
  yield isList ? ']' : '}'
}

function entriesOf(value: object): Iterable<readonly [unknown, unknown]> {
  if (Array.isArray(value)) return value.entries()
  return fieldsOf(value as Readonly<Record<string, unknown>>)
}

function* fieldsOf(object: Readonly<Record<string, unknown>>): Generator<readonly [string, unknown]> {
  for (const key of Object.keys(object)) if (object[key] !== undefined) yield [key, object[key]]
}

function scalarText(value: unknown): string {
  if (isCallable(value)) return '""'
  if (typeof value === 'number') {
    return JSON.stringify(Number.isInteger(value) ? value : Number(value.toPrecision(15)))
  }
  return JSON.stringify(value) ?? 'null'
}
