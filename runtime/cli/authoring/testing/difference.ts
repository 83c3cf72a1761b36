/** Owns how an expected and an actual value are set against each other. */

import { blanks, type Mismatch } from '@reveille/engine'
import { diffArrays } from 'diff'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'

type Difference = Pick<Mismatch, 'expected' | 'actual' | 'texts'>

/** Longer lines are cut around the first difference. UTF-16 units. */
const shownColumns = 100
/** Equal lines around a difference. */
const shownAround = 2
/** Lines of a text that only had to contain something. */
const shownLines = 20
/** Lines of a difference. */
const mostLines = 60
/** Beyond so many edits the texts have nothing to do with each other. */
const mostEdits = 1000
const labels = { expected: 'expected  ', actual: 'actual    ' }

/** Lines without indentation. */
export function formatDifference({ expected, actual, texts }: Difference, paint: Paint): string[] {
  if (texts === undefined) return pair(cut(expected, 0), cut(actual, 0))
  const { wanted, part } = texts
  const isLong = [texts.actual, wanted, part].some((text) => text?.includes('\n'))
  if (wanted !== undefined) {
    return isLong ? lineDifference(wanted, texts.actual, paint) : markedDifference(expected, actual, paint)
  }
  if (!isLong) return pair(cut(expected, 0), cut(actual, 0))
  const before = part?.includes('\n') ? expected.replace(JSON.stringify(part), () => '').trimEnd() : expected
  return [
    `${labels.expected}${printable(before)}`,
    ...(part?.includes('\n') ? block(part) : []),
    labels.actual.trim(),
    ...block(texts.actual),
  ]
}

function markedDifference(expected: string, actual: string, paint: Paint): string[] {
  const at = firstDifference(expected, actual)
  const from = at > shownColumns - 20 ? at - shownColumns / 2 : 0
  const before = labels.actual + (from > 0 ? '…' : '') + actual.slice(from, at)
  return [...pair(cut(expected, from), cut(actual, from)), paint.red(`${blanks(before)}^`)]
}

function pair(expected: string, actual: string): string[] {
  return [`${labels.expected}${expected}`, `${labels.actual}${actual}`]
}

function lineDifference(wanted: string, actual: string, paint: Paint): string[] {
  const one = wanted.split('\n')
  const other = actual.split('\n')
  const changes = diffArrays(one, other, { maxEditLength: mostEdits }) ?? [
    { value: one, removed: true, added: false },
    { value: other, removed: false, added: true },
  ]
  const legend = `${paint.red('- expected')}  ${paint.green('+ actual')}`
  const lines = changes.flatMap(({ value, removed, added }, index) => {
    if (removed) return value.map((line) => paint.red(`- ${printable(line)}`))
    if (added) return value.map((line) => paint.green(`+ ${printable(line)}`))
    return shortened(value, index === 0, index === changes.length - 1).map((line) => `  ${printable(line)}`)
  })
  const more = lines.length - mostLines
  return [legend, ...lines.slice(0, mostLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
}

/** Equal lines help only near a difference. */
function shortened(lines: readonly string[], isFirst: boolean, isLast: boolean): readonly string[] {
  const before = isFirst ? 0 : shownAround
  const after = isLast ? 0 : shownAround
  if (lines.length <= before + after + 1) return lines
  return [...lines.slice(0, before), '…', ...(after === 0 ? [] : lines.slice(-after))]
}

function block(text: string): string[] {
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

function cut(text: string, from: number): string {
  const shown = printable(text.slice(from, from + shownColumns))
  return `${from > 0 ? '…' : ''}${shown}${text.length > from + shownColumns ? '…' : ''}`
}
