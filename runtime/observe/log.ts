/** Creates the log: pino records, written as JSON lines or laid out for people. */

import { type DestinationStream, type Logger, pino } from 'pino'
import { createPrettyStream } from './pretty.ts'
import { createStandardError, type LogOutput } from './standard-error.ts'

export type Log = Logger

/** The settings that a reload may change. */
export interface LogSettings {
  readonly level: string
  /** Default: pretty on a terminal, and JSON elsewhere. */
  readonly format?: 'pretty' | 'json'
}

export interface LogOptions extends LogSettings {
  /**
   * Where lines go. Default: standard error, so that standard output is the terminal channel's alone and
   * `reveille start 2>log` separates the two.
   */
  readonly stream?: DestinationStream & { isTTY?: boolean; columns?: number }
  /** Returns a line without secrets. A line is JSON, and stays so. */
  readonly mask?: (line: string) => string
}

export function createLog({ stream, mask = (line) => line, ...first }: LogOptions) {
  const isTerminal = (stream ?? process.stderr).isTTY === true
  const output = stream ? outputTo(stream) : createStandardError(reportDropped)
  const json = { write: (line: string) => output.write(escapeControls(line)) }
  const pretty = createPrettyStream(output, { colour: isTerminal && useColour() })
  let target = targetOf(first)
  const log = pino(
    { level: first.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => target.write(mask(line)) },
  )

  function targetOf({ format = isTerminal ? 'pretty' : 'json' }: LogSettings): DestinationStream {
    return format === 'pretty' ? pretty : json
  }

  function reportDropped(lines: number): void {
    log.warn({ event: 'log-lines-dropped', lines })
  }

  return {
    log,
    /** Changes the settings for the lines from now on; each line is whole, in one format, after those before it. */
    configure(settings: LogSettings): void {
      target = targetOf(settings)
      log.level = settings.level
    },
    /** Resolves when every line is written, when the target refuses a write, or after a second. Never rejects. */
    flush: output.flush,
    /** Number of lines dropped because the target accepted none. */
    droppedLines: output.dropped,
  }
}

/** Lines to a stream of the caller are written one by one. */
function outputTo(stream: NonNullable<LogOptions['stream']>): LogOutput {
  return {
    get columns() {
      return stream.columns
    },
    write: (text) => stream.write(text),
    flush: async () => {},
    dropped: () => 0,
  }
}

/**
 * Characters that a terminal may obey (C1) or reorder text by (bidi), and line ends of Unicode, because a log that is followed on a
 * terminal is shown as it is. JSON itself escapes C0 alone.
 */
const controls = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * These characters occur inside JSON strings only, where an escape means the same. Few lines have DEL or characters beyond ASCII,
 * and this finds them in half the time of a pattern.
 */
function escapeControls(line: string): string {
  if (Buffer.byteLength(line) === line.length && !line.includes('\u007f')) return line
  return line.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** https://no-color.org: set to anything but the empty text, colour is off. */
function useColour(): boolean {
  return !process.env['NO_COLOR']
}
