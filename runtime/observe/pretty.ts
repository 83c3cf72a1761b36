/** Lays out log records for people: with a message for each event that has one, and otherwise with its facts. */

import type { DestinationStream } from 'pino'
import { type Facts, type Line, lineOf } from './log-messages.ts'
import { createPaint, type Paint } from './paint.ts'
import { printable } from './printable.ts'
import { wrapWords } from './wrap-words.ts'

const labels: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}
const infoLevel = 30
/** One of these facts names the owner of a plugin's line. */
const pluginKinds = ['source', 'channel', 'runner']
const bookkeeping = new Set(['level', 'time', 'event', 'msg', 'err'])
const labelWidth = 10
const gap = '  '
/** The column at which a text begins, and its further lines too. */
const margin = '00:00:00'.length + labelWidth + 4
/** With less room than this for a text, the terminal breaks the lines itself. Columns. */
const narrowest = 30

export function createPrettyStream(
  /** `columns` is the width of a terminal, read for each line, since windows change. Without it no line is broken. */
  target: { write(text: string): unknown; readonly columns?: number },
  options: { colour: boolean },
): DestinationStream {
  const paint = createPaint(options)
  return {
    write(line) {
      const room = (target.columns ?? Number.POSITIVE_INFINITY) - margin
      const width = room < narrowest ? Number.POSITIVE_INFINITY : room
      target.write(`${setLine(JSON.parse(line) as Facts, paint, width)}\n`)
    },
  }
}

/** `width` is the room right of the margin. */
function setLine(record: Facts, paint: Paint, width: number): string {
  const time = paint.dim(clock(record['time']))
  const level = Number(record['level'])
  const [name = labels[level] ?? 'log', text, aside] =
    lineOf(record) ?? pluginLine(record, level) ?? plainLine(record)
  const lines = [
    ...withAside(wrapWords(text, width), aside, paint, width),
    ...errorLines(record['err']).flatMap((line) => wrapWords(line, width)),
  ]
  return `${time}  ${label(name, level, paint)}  ${lines.join(`\n${' '.repeat(margin)}`)}`
}

/** The small print follows the text, or is below it where the line has no room left. */
function withAside(lines: string[], aside: string | undefined, paint: Paint, width: number): string[] {
  if (!aside) return lines
  const last = lines.at(-1) ?? ''
  if (last.length + gap.length + aside.length <= width) {
    return [...lines.slice(0, -1), `${last}${gap}${paint.dim(aside)}`]
  }
  return [...lines, ...wrapWords(aside, width).map(paint.dim)]
}

function label(name: string, level: number, paint: Paint): string {
  const text = name.padEnd(labelWidth)
  if (level >= 50) return paint.red(text)
  if (level >= 40) return paint.yellow(text)
  return paint.green(text)
}

/** Local time of day. */
function clock(time: unknown): string {
  const date = new Date(String(time))
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}

/** A record without a message of its own: its `msg`, then its facts. */
function plainLine(record: Facts): Line {
  const message = record['msg'] ?? wordsOf(record['event'])
  return [undefined, [printable(message), ...factsOf(record, bookkeeping)].join('  ')]
}

/** The line of a plugin: its owner, then its event as words. `tides-warnings-posted` of the source tides is `tides  warnings posted`. */
function pluginLine(record: Facts, level: number): Line | undefined {
  const kind = pluginKinds.find((key) => typeof record[key] === 'string')
  if (record['plugin'] === undefined || kind === undefined || record['msg'] !== undefined) return undefined
  const owner = String(record[kind])
  const event = String(record['event'])
  const words = wordsOf(event.startsWith(`${owner}-`) ? event.slice(owner.length + 1) : event)
  const facts = factsOf(record, new Set([...bookkeeping, 'plugin', kind]))
  return [level === infoLevel ? kind : undefined, printable(`${owner}  ${words}`), facts.join('  ')]
}

function wordsOf(event: unknown): string {
  return String(event ?? '').replaceAll('-', ' ')
}

function factsOf(record: Facts, without: ReadonlySet<string>): string[] {
  return Object.entries(record)
    .filter(([key, value]) => !without.has(key) && value !== undefined)
    .map(([key, value]) => printable(`${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
}

/** The lines of an error and of its causes. */
function errorLines(error: unknown): string[] {
  if (error === undefined || error === null) return []
  if (typeof error !== 'object') return [printable(error)]
  const { type, message, stack, cause } = error as Facts
  const frames = String(stack ?? type ?? '')
  const text = message === undefined || frames.includes(String(message)) ? frames : `${message}\n${frames}`
  const [first = '', ...rest] = errorLines(cause)
  return [...text.split('\n').map(printable), ...(cause ? [`caused by: ${first}`, ...rest] : [])]
}
