/** Writes what a command answers: JSON, tables, records, times, short ids, counts, and a progress bar. */

import type { Diagnostic } from '@reveille/engine'
import { printable } from '../observe/printable.ts'
import type { Io } from './io.ts'

/** Writes a value as JSON, or else the text, with a line feed at its end. @returns the exit code that is given */
export function print(
  { out, json }: Pick<Io, 'out' | 'json'>,
  value: unknown,
  text: () => string = () => '',
  exitCode = 0,
): number {
  const written = json ? JSON.stringify(value, null, 2) : text()
  out(written === '' || written.endsWith('\n') ? written : `${written}\n`)
  return exitCode
}

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
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const last = widths.pop() ?? 0
  for (;;) {
    const taken = widths.reduce((sum, each) => sum + each + gap.length, Math.min(last, minLast))
    const longest = Math.max(0, ...widths)
    if (taken <= width || longest <= minColumn) break
    widths[widths.indexOf(longest)] = Math.max(minColumn, longest - (taken - width))
  }
  return lines
    .map((line) => line.map((cell, at) => fitWidth(cell, widths[at] ?? cell.length).padEnd(widths[at] ?? 0)))
    .map((line) => `${fitWidth(line.join(gap).trimEnd(), width)}\n`)
    .join('')
}

/** Formats facts one a line, and the items of a list one a line; the parts of each are beside each other. Empty ones are left out. */
export function formatSummary(facts: object, now: number): string {
  const rows = Object.entries(facts).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .map((each) => inLine(name, each, now))
      .filter((text) => text !== '')
      .map((text, at) => [at === 0 ? name : '', text] as const),
  )
  const width = Math.max(0, ...rows.map(([label]) => label.length)) + gap.length
  return rows.map(([label, text]) => `${label.padEnd(width)}${printable(text)}\n`).join('')
}

function inLine(name: string, value: unknown, now: number): string {
  if (isEmpty(value)) return ''
  if (Array.isArray(value)) return listed(value.map((each) => inLine('', each, now)))
  if (isTime(value)) return shortTime(value, now)
  if (typeof value === 'number') return value.toLocaleString('en')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object') return String(value)
  const parts = Object.entries(value as object).map(([key, each]): [string, string] => [
    key,
    inLine(key, each, now),
  ])
  const present = parts.filter(([, text]) => text !== '')
  // A channel among `channels` is named by itself.
  return present.map(([key, text]) => (name.startsWith(key) ? text : `${key} ${text}`)).join(', ')
}

/** Nothing that records count comes to so many milliseconds since the Unix epoch, which is in 2001. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 1_000_000_000_000
}

export function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

/** A local time, with its day only when that is not today. */
export function shortTime(at: number, now: number): string {
  const clock = new Date(at).toTimeString().slice(0, 8)
  // Swedish writes days as ISO 8601 does.
  const [day, today] = [at, now].map((time) => new Date(time).toLocaleDateString('sv'))
  return day === today ? clock : `${day} ${clock}`
}

/** The random end of a UUIDv7; its start is the time, which hardly differs between records of one minute. */
export function shortId(id: string): string {
  return id.slice(-6)
}

/** A sentence of the gateway with its ids shortened as in tables. */
export function withShortIds(sentence: string): string {
  return sentence.replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, shortId)
}

/** Cuts a line to a number of columns, the ellipsis included. */
export function fitWidth(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}

/** Writes a number with its noun: `1 error`, `2 errors`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** `2 errors`. */
export function errorsOf({ diagnostics }: { readonly diagnostics: readonly Pick<Diagnostic, 'severity'>[] }) {
  return counted(diagnostics.filter(({ severity }) => severity === 'error').length, 'error')
}

/** Writes several names: `a`, `a and b`, or `a, b and 3 more`. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.length > most ? names.slice(0, most - 1) : names
  const left = names.length - shown.length
  const all = left > 0 ? [...shown, `${left} more`] : shown
  const last = all.at(-1) ?? ''
  return all.length < 2 ? last : `${all.slice(0, -1).join(', ')} and ${last}`
}

/** The width of a progress bar, in characters. */
const barWidth = 24

/** Shows the progress of a long task in one line of a terminal that is written over; elsewhere nothing. */
export function createBar(io: Io) {
  const say = (text: string) => {
    if (io.columns !== undefined) io.err(`\r\x1b[K${fitWidth(text, io.columns - 1)}`)
  }
  return {
    show(done: number, total: number, text: string): void {
      const filled = Math.floor((barWidth * done) / Math.max(1, total))
      say(`${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}  ${text}`)
    },
    /** Shows a text in place of the bar. */
    say,
    clear: () => say(''),
  }
}

/** Quotes a text only where a shell would split or change it. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
