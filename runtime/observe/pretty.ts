/** Owns how a log record looks to a person: one set line for each event that has a story, a plain line for the rest. */

import type { DestinationStream } from 'pino'
import { createPaint, type Paint } from './paint.ts'
import { printable } from './printable.ts'
import { type Facts, type Line, stories } from './stories.ts'
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
/** One of them says whose a plugin's line is. */
const pluginKinds = ['source', 'channel', 'runner']
const bookkeeping = new Set(['level', 'time', 'event', 'msg', 'err'])
const labelWidth = 10
const gap = '  '
/** Where a text begins, and so its further lines. Columns. */
const margin = '00:00:00'.length + labelWidth + 4
/** With less room than this for a text, the terminal may break the lines itself. Columns. */
const narrowest = 30

export function createPrettyStream(
  /** `columns`: of a terminal, read for each line, since windows change. Absent: lines stay as long as they are. */
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
    stories[String(record['event'])]?.(record) ?? ofPlugin(record, level) ?? tell(record)
  const told = [
    ...withAside(wrapWords(text, width), aside, paint, width),
    ...trouble(record['err']).flatMap((line) => wrapWords(line, width)),
  ]
  return `${time}  ${label(name, level, paint)}  ${told.join(`\n${' '.repeat(margin)}`)}`
}

/** The small print stands behind the text, or below it where the line has no room left. */
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

/** A record without a story: its message, then its facts. */
function tell(record: Facts): Line {
  const message = record['msg'] ?? record['event'] ?? ''
  return [undefined, [printable(message), ...factsOf(record, bookkeeping)].join('  ')]
}

/** Whose line it is, then its event as words: `gmail-mails-posted` of the source gmail. Undefined for what is no plugin's. */
function ofPlugin(record: Facts, level: number): Line | undefined {
  const kind = pluginKinds.find((key) => typeof record[key] === 'string')
  if (record['plugin'] === undefined || kind === undefined || record['msg'] !== undefined) return undefined
  const owner = String(record[kind])
  const event = String(record['event'])
  const words = (event.startsWith(`${owner}-`) ? event.slice(owner.length + 1) : event).replaceAll('-', ' ')
  const facts = factsOf(record, new Set([...bookkeeping, 'plugin', kind]))
  return [level === infoLevel ? kind : undefined, printable(`${owner}  ${words}`), facts.join('  ')]
}

function factsOf(record: Facts, without: ReadonlySet<string>): string[] {
  return Object.entries(record)
    .filter(([key, value]) => !without.has(key) && value !== undefined)
    .map(([key, value]) => printable(`${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`))
}

/** An error's own lines, and those of its causes. */
function trouble(error: unknown): string[] {
  if (error === undefined || error === null) return []
  if (typeof error !== 'object') return [printable(error)]
  const { type, message, stack, cause } = error as Facts
  const frames = String(stack ?? type ?? '')
  const told = message === undefined || frames.includes(String(message)) ? frames : `${message}\n${frames}`
  const [first = '', ...rest] = trouble(cause)
  return [...told.split('\n').map(printable), ...(cause ? [`caused by: ${first}`, ...rest] : [])]
}
