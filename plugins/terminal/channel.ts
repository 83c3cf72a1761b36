/** Owns sending: a reply becomes one write to standard output or standard error. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Channel, PluginError, splitMarkdown, type Target } from '@reveille/kit'
import { setBlock } from './block.ts'
import { neutralise } from './neutralise.ts'

export interface TerminalConfig {
  /** Default: `stdout`. */
  readonly defaultTo?: StreamName
}

export type StreamName = 'stdout' | 'stderr'

/** What is needed of a stream; `process.stdout` is one. */
export type TerminalStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  /** Says no for NO_COLOR and for terminals that have none. */
  hasColors?(): boolean
}

export interface TerminalOptions extends TerminalConfig {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  /** Writes all of the text and calls back once. Default: the stream's own write. */
  readonly write?: (stream: TerminalStream, text: string, done: (error?: Error | null) => void) => void
}

export interface TerminalChannel {
  readonly channel: Channel
  /** Lets go of the streams, which stay open: they are the process's own. */
  close(): Promise<void>
}

/** More than a person reads at one go; it only bounds what one write holds. UTF-16 units. */
const partLimit = 65_536

export function createTerminalChannel(options: TerminalOptions): TerminalChannel {
  const streams = { stdout: options.stdout, stderr: options.stderr }
  const { write = (stream, text, done) => stream.write(text, done) } = options
  const limits = { part: partLimit, unit: 'utf16' } as const

  // The failed write itself tells of the error; without a listener the event would end the process.
  const ignore = () => {}
  for (const stream of Object.values(streams)) stream.on('error', ignore)

  return {
    channel: {
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
        await settled((done) => write(stream, block, done), name, signal)
        return { id: key }
      },
    },
    async close() {
      // A failed write emits its error a moment after it has told its caller.
      await nextTurn()
      for (const stream of Object.values(streams)) stream.removeListener('error', ignore)
    },
  }
}

/** @throws PluginError `bad-target` */
export function parseTarget(to: string): Target {
  const name = to.trim()
  if (name === 'stdout' || name === 'stderr') return { key: name, kind: 'channel' }
  const options = { code: 'bad-target', retryable: false } as const
  throw new PluginError('The terminal takes `stdout` or `stderr` as an address.', options)
}

/** `reply 1d09aa`, and `reply 1d09aa, part 2` from the second part on: the end of an id, as log lines and lists show it. */
function titleOf(key: string): string {
  const [delivery = '', part = '1'] = neutralise(key).split(':')
  return `reply ${delivery.slice(-6)}${part === '1' ? '' : `, part ${part}`}`
}

/** Settles when the stream has passed the text on, so that a slow reader holds up the lane and not the memory. */
async function settled(
  write: (done: (error?: Error | null) => void) => void,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw calledOff(signal, false)
  const written = Promise.withResolvers<void>()
  const abort = () => written.reject(calledOff(signal, true))
  signal.addEventListener('abort', abort, { once: true })
  try {
    write((error) => (error ? written.reject(refused(name, error)) : written.resolve()))
    await written.promise
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function calledOff(signal: AbortSignal, maybeDelivered: boolean): PluginError {
  return new PluginError('The reply was called off.', {
    code: 'aborted',
    retryable: true,
    maybeDelivered,
    cause: signal.reason,
  })
}

/** A reader that went away (EPIPE) does not come back to this process; a full disk may have room again. */
function refused(name: string, cause: NodeJS.ErrnoException): PluginError {
  const isGone = cause.code === 'EPIPE'
  const text = isGone
    ? `Nobody reads ${name} any more.`
    : `Writing to ${name} failed: ${cause.code ?? cause.message}.`
  return new PluginError(text, { code: 'unavailable', retryable: !isGone, cause })
}
