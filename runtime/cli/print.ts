/** Writes what a command answers: JSON, tables, facts, times, short ids, counts, a progress bar, and commands that the user may paste. */

import type { Diagnostic } from '@reveille/engine'
import { printable } from '../observe/printable.ts'
import { wrapWords } from '../observe/wrap-words.ts'
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

export type Facts = Readonly<Record<string, unknown>>

/**
 * Formats one whole record: a line for each fact, and a fact with parts indented below its label. Each line is made printable, and
 * broken between words where it is wider than the terminal. Facts that are absent or empty are left out.
 */
export function formatFacts(facts: Facts, width = Number.POSITIVE_INFINITY): string {
  return linesOfFacts(facts, width)
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function linesOfFacts(facts: Facts, width: number): string[] {
  const present = Object.entries(facts).filter(([, value]) => !isEmpty(value))
  const labels = Math.max(0, ...present.map(([label]) => label.length)) + gap.length
  return present.flatMap(([label, value]) => {
    const lines = linesOf(label, value, width - gap.length)
    const [only = ''] = lines
    if (lines.length > 1 || hasParts(value)) return [label, ...lines.map((line) => `${gap}${line}`)]
    return hung(only, label.padEnd(labels), width)
  })
}

function linesOf(label: string, value: unknown, width: number): string[] {
  if (label === 'timings' && isFacts(value)) return linesOfFacts(inMilliseconds(value), width)
  if (Array.isArray(value))
    return value.flatMap((each) =>
      isFacts(each)
        ? linesOfFacts(each, width - gap.length).map((line, index) => `${index === 0 ? '- ' : gap}${line}`)
        : linesOf(label, each, width).flatMap((line) => hung(line, '', width, gap)),
    )
  if (isFacts(value)) return linesOfFacts(value, width)
  if (typeof value === 'number' && /(?:^a|A)t$/.test(label)) return [new Date(value).toISOString()]
  return String(value).split(/\r?\n/).map(printable)
}

/** Breaks a text between words to fit so many columns. `first` goes before its first line, and `next` before the others. */
export function hung(
  text: string,
  first: string,
  columns = Number.POSITIVE_INFINITY,
  next = ' '.repeat(first.length),
): string[] {
  const lines = wrapWords(text, Math.max(columns - next.length, minLast))
  return lines.map((line, at) => `${at === 0 ? first : next}${line}`)
}

function inMilliseconds(timings: Facts): Facts {
  const measured = Object.entries(timings).filter(([, ms]) => ms !== undefined)
  return Object.fromEntries(measured.map(([name, ms]) => [name.replace(/Ms$/, ''), `${ms} ms`]))
}

function hasParts(value: unknown): boolean {
  return isFacts(value) || (Array.isArray(value) && value.some(isFacts))
}

function isFacts(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) ? value.length === 0 : isFacts(value) && Object.values(value).every(isEmpty)
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

/** In a clone the program is not on the path, and a command that npm started can be started so again. */
export function programName({ env }: Pick<Io, 'env'>): string {
  return env['npm_command'] === undefined ? 'reveille' : 'npx reveille'
}

/** A command that can be pasted, in backticks: `npx reveille replay 3f9a1c --config local/reveille.yaml`. */
export function commandLine(words: string, io: Pick<Io, 'env' | 'config'>): string {
  const isWhole = io.config === undefined || words.includes('--config') || withoutConfig.test(words)
  const options = isWhole ? '' : ` --config ${shellWord(io.config)}`
  return `\`${programName(io)} ${words}${options}\``
}

/** The commands that have no `--config`. */
const withoutConfig = /^(?:init(?: plugin\b.*)?$|docs|schema|completion)/

/** A sentence of any part of Reveille with its commands, such as `reveille check`, as the user may paste them. */
export function withCommandLines(sentence: string, io: Pick<Io, 'env' | 'config'>): string {
  return sentence.replaceAll(/`reveille ([^`]+)`/g, (_, words: string) => commandLine(words, io))
}

/** Quotes a text only where a shell would split or change it. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
