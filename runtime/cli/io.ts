/** Defines what a command may touch of the world around it, and gives it that of the process; a test gives it another. */

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { Asked, RouteName } from '../api/routes/client.ts'
import { createPaint, type Paint } from '../observe/paint.ts'
import type { NodeRole } from '../store/port.ts'
import type { Prompts } from './prompts.ts'
import type { Signals } from './signals.ts'

type QueryOf<Name extends RouteName> = keyof NonNullable<Asked<Name>['query']>

/** The options by which records are chosen: the queries of lists name them so. */
export type Filter =
  | 'delivery'
  | Exclude<
      QueryOf<'listRequests'> | QueryOf<'listRuns'> | QueryOf<'listDeliveries'> | 'runner',
      QueryOf<'listSessions'> | 'deliveryId' | 'generationDigest' | 'replayOf'
    >
export type FilterOptions = { readonly [Name in Filter]?: string }
/** The options of commands, but for `--config` and `--json`. One that several commands have means the same in each; absent: it is not given. */
export interface CommandOptions extends FilterOptions {
  readonly all?: boolean
  readonly allow?: readonly string[]
  readonly as?: string
  readonly asTest?: boolean
  readonly body?: boolean
  readonly by?: 'day' | 'mapping' | 'model' | 'session'
  readonly callOut?: boolean
  /** The id of a job. */
  readonly cancel?: string
  /** False: the service is not asked whether the credential is good. */
  readonly check?: boolean
  readonly cursor?: string
  readonly deliverAgain?: boolean
  readonly dryRun?: boolean
  readonly failed?: boolean
  /** True if the command line named no command. */
  readonly first?: boolean
  /** Milliseconds. */
  readonly for?: number
  readonly header?: readonly string[]
  readonly host?: string
  readonly ignored?: boolean
  readonly init?: boolean
  /** A port; true: 9229. */
  readonly inspect?: string | true
  /** The id of a job. */
  readonly job?: string
  readonly lastGood?: boolean
  readonly limit?: number
  readonly now?: string
  readonly offline?: boolean
  readonly online?: boolean
  readonly out?: string
  readonly parked?: boolean
  readonly payload?: string
  readonly poll?: boolean
  readonly port?: string
  readonly preset?: readonly string[]
  readonly presets?: 'all'
  readonly query?: readonly string[]
  readonly raw?: boolean
  readonly request?: string
  readonly role?: NodeRole
  readonly samples?: string
  /** Each as `key=value`. */
  readonly set?: readonly string[]
  readonly strict?: boolean
  /** Seconds. */
  readonly timeout?: number
  readonly to?: string
  readonly tunnel?: boolean
  readonly tunnelPort?: string
  /** False: the command does not wait for the end. */
  readonly wait?: boolean
  readonly watch?: boolean
  readonly with?: string
  readonly withoutSecrets?: boolean
  readonly yes?: boolean
}

export interface Io {
  /** Writes the requested output: a table, JSON, a banner. */
  out(text: string): void
  /** Writes requested bytes. Absent: they are written as text. */
  readonly outBytes?: (bytes: Uint8Array) => void
  /** Writes what went wrong, and progress. */
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. */
  readonly cwd: string
  /** The `--config` of this command. */
  readonly config?: string
  /** The `--json` of this command. */
  readonly json?: boolean
  /** The terminal's width; absent when the output is no terminal, and then nothing is cut. */
  readonly columns?: number
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves so many milliseconds from now. */
  pause(ms: number): Promise<void>
  readonly fetch: typeof fetch
  /** Standard input, to its end. Absent: there is none. */
  readonly input?: () => Promise<Uint8Array>
  /** Standard input as it arrives, for what may be larger than the memory. Absent: there is none. */
  readonly inputChunks?: () => AsyncIterable<Uint8Array>
  /** One line of standard input, which may stay open; after its end it never settles, but for its signal. Absent: a terminal. */
  readonly line?: (signal: AbortSignal) => Promise<string>
  /** Opens an address in a browser; false where there is none. Absent: nothing is opened. */
  readonly browse?: (url: string) => Promise<boolean>
  /** Asks the person at a terminal. Absent: there is no terminal. */
  readonly prompts?: () => Promise<Prompts>
  /** The signals that stop a command that runs until it is stopped. Absent: there are none. */
  readonly signals?: Signals
}

/** Colours are for terminals, unless NO_COLOR is set (https://no-color.org). */
export function paintFor({ columns, env }: Io): Paint {
  return createPaint({ colour: columns !== undefined && !env['NO_COLOR'] })
}

/** `reveille runs | head` closes the pipe early, which is no error. */
function reportUnwritten(error?: NodeJS.ErrnoException | null): void {
  if (!error || error.code === 'EPIPE') return
  process.stderr.write(`Standard output could not be written: ${error.message}\n`)
  process.exitCode = 1
}

/** The width of a terminal that does not report one. */
const usualWidth = 80

export function processIo(): Io {
  // Each write is called back with its own error; without a listener the event would end a gateway.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return {
    out: (text) => void process.stdout.write(text, reportUnwritten),
    outBytes: (bytes) => void process.stdout.write(bytes, reportUnwritten),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    cwd: process.cwd(),
    ...(process.stdout.isTTY ? { columns: process.stdout.columns || usualWidth } : {}),
    now: Date.now,
    pause: (ms) => pause(ms),
    fetch,
    input: () => buffer(process.stdin),
    inputChunks: () => process.stdin,
    ...(process.stdin.isTTY ? {} : { line: createLineReader(process.stdin) }),
    browse: (url) => import('open').then(({ default: open }) => open(url)).then(() => true),
    ...(process.stdin.isTTY && process.stdout.isTTY
      ? { prompts: () => import('./prompts.ts').then(({ terminalPrompts }) => terminalPrompts()) }
      : {}),
    signals: process,
  }
}

/** Reads standard input line by line where it is no terminal and may stay open. Each call resolves with the next line; a call after the last line settles only when its signal is aborted. */
export function createLineReader(input: Readable): (signal: AbortSignal) => Promise<string> {
  let lines: AsyncIterator<string> | undefined
  /** A line that is asked for already, by a call whose signal was aborted. */
  let next: Promise<IteratorResult<string>> | undefined
  return async (signal) => {
    signal.throwIfAborted()
    lines ??= createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
    next ??= lines.next()
    input.resume()
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal.reason)
    signal.addEventListener('abort', abort)
    try {
      const { done, value } = await Promise.race([next, aborted.promise])
      next = undefined
      return done ? await aborted.promise : value
    } finally {
      signal.removeEventListener('abort', abort)
      // An input that is read keeps the process alive.
      input.pause()
    }
  }
}
