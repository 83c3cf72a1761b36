/** Owns the log: pino records, as JSON lines or set for people. */

import { type DestinationStream, type Logger, pino } from 'pino'
import { createPrettyStream } from './pretty.ts'
import { createStandardError, type LogOutput } from './standard-error.ts'

export type Log = Logger

/** What may change while lines are written. */
export interface LogSettings {
  readonly level: string
  /** Absent: pretty on a terminal, else JSON. */
  readonly format?: 'pretty' | 'json'
}

export interface LogOptions extends LogSettings {
  /**
   * Where lines go. Default: standard error, so that standard output is the terminal channel's alone and
   * `reveille start 2>log` separates the two.
   */
  readonly stream?: DestinationStream & { isTTY?: boolean; columns?: number }
}

export interface OwnedLog {
  readonly log: Log
  /** Other settings for the lines from now on; every line is whole, in one format, behind those before it. */
  configure(settings: LogSettings): void
  /** Writes what is buffered; no line may be lost at exit. */
  flush(): void
}

export function createLog({ stream, ...first }: LogOptions): OwnedLog {
  const isTerminal = (stream ?? process.stderr).isTTY === true
  const output = stream ? outputTo(stream) : createStandardError()
  const json = { write: output.gather }
  const pretty = createPrettyStream(output, { colour: isTerminal && useColour() })
  let target = targetOf(first)
  const log = pino(
    { level: first.level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` },
    { write: (line) => target.write(line) },
  )

  function targetOf({ format = isTerminal ? 'pretty' : 'json' }: LogSettings): DestinationStream {
    return format === 'pretty' ? pretty : json
  }

  return {
    log,
    configure(settings) {
      target = targetOf(settings)
      log.level = settings.level
    },
    flush: output.flush,
  }
}

/** Nothing gathers on the way to a stream of somebody else's. */
function outputTo(stream: NonNullable<LogOptions['stream']>): LogOutput {
  const write = (text: string) => stream.write(text)
  return {
    get columns() {
      return stream.columns
    },
    write,
    gather: write,
    flush() {},
  }
}

/** https://no-color.org: set to anything but the empty text, colour is off. */
function useColour(): boolean {
  return !process.env['NO_COLOR']
}
