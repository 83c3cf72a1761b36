/** Formats records for a terminal: columns, times, short ids. */

import { printable } from '../observe/printable.ts'

const gap = '  '

/** The widths below which columns are not narrowed for the last one, and the last one for them. */
const minColumn = 16
const minLast = 24

/**
 * Cells may come from payloads: each becomes one printable line. The last column takes what width is left, and where that is
 * too little the widest of the others give way.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [header, ...rows.map((row) => row.map(printable))]
  const widest = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const widths = fitted(widest, width)
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const most = widths[column] ?? 0
          return (column === header.length - 1 ? cell : fitWidth(cell, most)).padEnd(most)
        })
        .join(gap),
    )
    .map((line) => `${fitWidth(line.trimEnd(), width)}\n`)
    .join('')
}

function fitted(widest: readonly number[], width: number): readonly number[] {
  const widths = [...widest]
  const last = widths.pop() ?? 0
  for (;;) {
    const taken = widths.reduce((sum, each) => sum + each + gap.length, Math.min(last, minLast))
    const longest = Math.max(0, ...widths)
    if (taken <= width || longest <= minColumn) return [...widths, last]
    widths[widths.indexOf(longest)] = Math.max(minColumn, longest - (taken - width))
  }
}

/** A local time, with its day only when that is not today. */
export function shortTime(at: number, now: number): string {
  const clock = new Date(at).toTimeString().slice(0, 8)
  return day(at) === day(now) ? clock : `${day(at)} ${clock}`
}

/** The random end of a UUIDv7; its start is the time, which hardly differs between records of one minute. */
export function shortId(id: string): string {
  return id.slice(-6)
}

/** A sentence of the gateway with its ids shortened as in tables. */
export function withShortIds(sentence: string): string {
  return sentence.replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, shortId)
}

function day(at: number): string {
  const date = new Date(at)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}

/** Cuts a line to so many columns, the ellipsis included. */
export function fitWidth(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}
