/** Owns how a log record looks to a person: one set line for each event that has a story, a plain line for the rest. */

import type { DestinationStream } from 'pino'
import { printable } from './printable.ts'
import { type Facts, stories } from './stories.ts'

const labels: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}
const bookkeeping = new Set(['level', 'time', 'event', 'msg', 'err'])
const labelWidth = 10

export function createPrettyStream(
  target: { write(text: string): unknown },
  options: { colour: boolean },
): DestinationStream {
  const paint = options.colour ? colours : plain
  return {
    write(line) {
      target.write(`${setLine(JSON.parse(line) as Facts, paint)}\n`)
    },
  }
}

type Paint = Record<'dim' | 'bold' | 'red' | 'yellow' | 'green' | 'cyan', (text: string) => string>

const colours: Paint = {
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  red: (text) => `\x1b[31m${text}\x1b[39m`,
  yellow: (text) => `\x1b[33m${text}\x1b[39m`,
  green: (text) => `\x1b[32m${text}\x1b[39m`,
  cyan: (text) => `\x1b[36m${text}\x1b[39m`,
}

const same = (text: string) => text
const plain: Paint = { dim: same, bold: same, red: same, yellow: same, green: same, cyan: same }

function setLine(record: Facts, paint: Paint): string {
  const time = paint.dim(clock(record['time']))
  const level = Number(record['level'])
  const story = stories[String(record['event'])]
  if (!story) return `${time}  ${label(labels[level] ?? 'log', level, paint)}  ${tell(record)}`
  const [name, text, aside] = story(record)
  return `${time}  ${label(name, level, paint)}  ${text}${aside ? `  ${paint.dim(aside)}` : ''}`
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
function tell(record: Facts): string {
  const message = record['msg'] ?? record['event'] ?? ''
  const facts = Object.entries(record)
    .filter(([key, value]) => !bookkeeping.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const error = record['err'] as { message?: string; stack?: string } | undefined
  return (
    printable([String(message), ...facts].join('  ')) + (error ? `\n${error.stack ?? error.message}` : '')
  )
}
