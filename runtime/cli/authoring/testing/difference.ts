/** Shows the difference between an expected and an actual value. */

import { blanks, type Mismatch } from '@reveille/engine'
import { diffArrays } from 'diff'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'

type Difference = Pick<Mismatch, 'expected' | 'actual' | 'texts'>

/** Longer lines are cut around the first difference. UTF-16 units. */
const shownColumns = 100
const minColumns = 20
/** The equal lines that are shown around a difference. */
const shownAround = 2
/** The lines that are shown of a text that only had to contain something. */
const shownLines = 20
/** Maximum number of lines in a difference. */
const maxLines = 60
/** With more edits than this the texts have nothing in common. */
const maxEdits = 1000
const labels = { expected: 'expected  ', actual: 'actual    ' }

/** Returns lines without indentation, of at most so many columns. */
export function formatDifference(
  { expected, actual, texts }: Difference,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const room = Math.max(Math.min(shownColumns, columns - labels.actual.length - 2), minColumns)
  const cut = (text: string, from: number) => cutTo(room, text, from)
  if (texts === undefined) return pair(cut(expected, 0), cut(actual, 0))
  const { wanted, part } = texts
  const isLong = [texts.actual, wanted, part].some((text) => text?.includes('\n'))
  if (wanted !== undefined) {
    return isLong
      ? lineDifference(wanted, texts.actual, paint, columns)
      : markedDifference(expected, actual, paint, room)
  }
  if (!isLong) return pair(cut(expected, 0), cut(actual, 0))
  const before = part?.includes('\n') ? expected.replace(JSON.stringify(part), () => '').trimEnd() : expected
  return [
    `${labels.expected}${cut(before, 0)}`,
    ...(part?.includes('\n') ? block(part, cut) : []),
    labels.actual.trim(),
    ...block(texts.actual, cut),
  ]
}

function markedDifference(expected: string, actual: string, paint: Paint, room: number): string[] {
  const at = firstDifference(expected, actual)
  const from = at > room - 20 ? at - Math.floor(room / 2) : 0
  const before = labels.actual + (from > 0 ? '…' : '') + actual.slice(from, at)
  return [...pair(cutTo(room, expected, from), cutTo(room, actual, from)), paint.red(`${blanks(before)}^`)]
}

function pair(expected: string, actual: string): string[] {
  return [`${labels.expected}${expected}`, `${labels.actual}${actual}`]
}

function lineDifference(wanted: string, actual: string, paint: Paint, columns: number): string[] {
  const one = wanted.split('\n')
  const other = actual.split('\n')
  const changes = diffArrays(one, other, { maxEditLength: maxEdits }) ?? [
    { value: one, removed: true, added: false },
    { value: other, removed: false, added: true },
  ]
  const legend = `${paint.red('- expected')}  ${paint.green('+ actual')}`
  const lines = changes.flatMap(({ value, removed, added }, index) => {
    const marked = (mark: string) => (line: string) =>
      wrapWords(printable(line), columns - 2).map((part) => `${mark} ${part}`)
    if (removed) return value.flatMap(marked('-')).map(paint.red)
    if (added) return value.flatMap(marked('+')).map(paint.green)
    return shortened(value, index === 0, index === changes.length - 1).flatMap(marked(' '))
  })
  const more = lines.length - maxLines
  return [legend, ...lines.slice(0, maxLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
}

/** Equal lines help only near a difference. */
function shortened(lines: readonly string[], isFirst: boolean, isLast: boolean): readonly string[] {
  const before = isFirst ? 0 : shownAround
  const after = isLast ? 0 : shownAround
  if (lines.length <= before + after + 1) return lines
  return [...lines.slice(0, before), '…', ...(after === 0 ? [] : lines.slice(-after))]
}

function block(text: string, cut: (line: string, from: number) => string): string[] {
  const lines = text.split('\n')
  const more = lines.length - shownLines
  const shown = lines.slice(0, shownLines).map((line) => `│ ${cut(line, 0)}`.trimEnd())
  return more > 0 ? [...shown, `│ … ${more} more ${more === 1 ? 'line' : 'lines'}`] : shown
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

function cutTo(room: number, text: string, from: number): string {
  const shown = printable(text.slice(from, from + room))
  return `${from > 0 ? '…' : ''}${shown}${text.length > from + room ? '…' : ''}`
}
