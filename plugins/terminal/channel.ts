/** Writes replies to standard output or standard error, each part in one write. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import {
  type Channel,
  PluginError,
  permanentError,
  type Target,
  transientError,
  unlessAborted,
} from '@reveille/kit'
import { splitMarkdown } from '@reveille/kit/markdown'
import { neutralise, setBlock } from './render.ts'

export interface TerminalConfig {
  /** Default: `stdout`. */
  readonly defaultTo?: StreamName
}

export type StreamName = 'stdout' | 'stderr'

/** The part of a stream that the channel needs; `process.stdout` has it. */
export type TerminalStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  /** Returns false for NO_COLOR and for terminals without colours. */
  hasColors?(): boolean
}

export interface TerminalOptions extends TerminalConfig {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  /** Writes the whole text and calls back once. Default: the stream's own write. */
  readonly write?: (stream: TerminalStream, text: string, done: (error?: Error | null) => void) => void
}

/** Maximum length of a part, in UTF-16 units, which only bounds a single write. */
const partLimit = 65_536

export function createTerminalChannel(options: TerminalOptions) {
  const streams = { stdout: options.stdout, stderr: options.stderr }
  const { write = (stream, text, done) => stream.write(text, done) } = options
  const limits = { part: partLimit, unit: 'utf16' } as const

  // A failed write reports its own error, and an error event without a listener would end the process.
  const ignore = () => {}
  for (const stream of Object.values(streams)) stream.on('error', ignore)

  const channel: Channel = {
    id: 'terminal',
    limits,
    defaultTo: options.defaultTo ?? 'stdout',
    target: parseTarget,
    render: (markdown) => splitMarkdown(neutralise(markdown), limits).map((text) => ({ text })),
    async send(part, { target, key, signal }) {
      const name = target.key === 'stderr' ? 'stderr' : 'stdout'
      const stream = streams[name]
      const block = setBlock(part.text, {
        title: titleOf(key),
        columns: stream.isTTY ? stream.columns : undefined,
        colour: stream.isTTY === true && stream.hasColors?.() === true,
      })
      await writeAll((done) => write(stream, block, done), name, signal)
      return { id: key }
    },
  }

  return {
    channel,
    /** Removes the channel's listeners. The streams stay open, since they belong to the process. */
    async close() {
      // A failed write emits its error shortly after it has called back.
      await yieldToEventLoop()
      for (const stream of Object.values(streams)) stream.removeListener('error', ignore)
    },
  }
}

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): Target {
  const name = to.trim()
  if (name === 'stdout' || name === 'stderr') return { key: name, kind: 'channel' }
  throw permanentError('bad-target', 'The terminal takes `stdout` or `stderr` as an address.')
}

/** Returns `reply 1d09aa`, or `reply 1d09aa, part 2`, with the end of the id that log lines and lists show. */
function titleOf(key: string): string {
  const [delivery = '', part = '1'] = neutralise(key).split(':')
  return `reply ${delivery.slice(-6)}${part === '1' ? '' : `, part ${part}`}`
}

/** Waits until the stream has passed the text on, so that a slow reader delays the lane and does not fill the memory. */
async function writeAll(
  write: (done: (error?: Error | null) => void) => void,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw abortError(signal, false)
  const written = new Promise<void>((resolve, reject) => {
    write((error) => (error ? reject(writeError(name, error)) : resolve()))
  })
  await unlessAborted(written, signal).catch((error) => {
    throw signal.aborted ? abortError(signal, true) : error
  })
}

function abortError(signal: AbortSignal, maybeDelivered: boolean): PluginError {
  return transientError('aborted', 'The reply was called off.', { maybeDelivered, cause: signal.reason })
}

/** Returns the error for a failed write. A reader that is gone (EPIPE) does not return; a full disk may get room again. */
function writeError(name: string, cause: NodeJS.ErrnoException): PluginError {
  const isGone = cause.code === 'EPIPE'
  const text = isGone
    ? `Nobody reads ${name} any more.`
    : `Writing to ${name} failed: ${cause.code ?? cause.message}.`
  return new PluginError(text, { code: 'unavailable', retryable: !isGone, cause })
}
