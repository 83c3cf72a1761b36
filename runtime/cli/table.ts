/** Owns how records are set for a terminal: columns, times, short ids. */

import { printable } from '../observe/printable.ts'

const gap = '  '

/** Cells may come from payloads: each becomes one printable line. The last column takes what width is left. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [header, ...rows.map((row) => row.map(printable))]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(gap))
    .map((line) => `${cut(line.trimEnd(), width)}\n`)
    .join('')
}

/** Local; the day only when it is not today. */
export function shortTime(at: number, now: number): string {
  const clock = new Date(at).toTimeString().slice(0, 8)
  return day(at) === day(now) ? clock : `${day(at)} ${clock}`
}

/** The random end of a UUIDv7: its start is the time, which says little about records of one minute. */
export function shortId(id: string): string {
  return id.slice(-6)
}

function day(at: number): string {
  const date = new Date(at)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}

/** To so many columns, the ellipsis counted. */
export function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}
