/** Owns the log: pino records, as JSON lines or set for people. */

import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { createLineBlocks } from './line-blocks.ts'
import { createPrettyStream } from './pretty.ts'

export type Log = Logger

export interface LogOptions {
  readonly level: string
  /** Absent: pretty on a terminal, else JSON. */
  readonly format?: 'pretty' | 'json'
  /**
   * Where lines go. Default: standard error, so that standard output is the terminal channel's alone and
   * `reveille start 2>log` separates the two.
   */
  readonly stream?: DestinationStream & { isTTY?: boolean; columns?: number }
}

export interface OwnedLog {
  readonly log: Log
  /** Changes the level of lines from now on. */
  setLevel(level: string): void
  /** Writes what is buffered; no line may be lost at exit. */
  flush(): void
}

/** How long a line waits for others to leave with, at most. */
const passEveryMs = 100

export function createLog(options: LogOptions): OwnedLog {
  const isTerminal = options.stream ? options.stream.isTTY === true : process.stderr.isTTY === true
  if ((options.format ?? (isTerminal ? 'pretty' : 'json')) === 'pretty') {
    const target = options.stream ?? process.stderr
    const log = pino(
      settings(options.level),
      createPrettyStream(target, { colour: isTerminal && useColour() }),
    )
    return { log, setLevel: (level) => setLevel(log, level), flush() {} }
  }
  if (options.stream) {
    const log = pino(settings(options.level), options.stream)
    return { log, setLevel: (level) => setLevel(log, level), flush() {} }
  }
  // Blocks make writes few enough to wait for; one that is not waited for can be overtaken by the last one.
  const file = destination({ fd: 2, sync: true })
  const blocks = createLineBlocks(file)
  const timer = setInterval(blocks.pass, passEveryMs)
  timer.unref()
  const flush = () => {
    blocks.pass()
    file.flushSync()
  }
  // Before the destination's own: that one knows nothing of what has not been passed on.
  process.prependOnceListener('exit', flush)
  const log = pino(settings(options.level), blocks)
  return { log, setLevel: (level) => setLevel(log, level), flush }
}

function settings(level: string) {
  return { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }
}

function setLevel(log: Log, level: string): void {
  log.level = level
}

/** https://no-color.org: set to anything but the empty text, colour is off. */
function useColour(): boolean {
  return !process.env['NO_COLOR']
}
