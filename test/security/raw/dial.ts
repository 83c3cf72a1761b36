/** Opens a connection whose every byte the test writes, without an HTTP client in between. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The status line of an answer. An interim `100 Continue` is no answer. */
const statusLine = /HTTP\/1\.1 (?!100 )(\d{3}) /g
/** A gateway closes within this time after its sender has closed. Milliseconds. */
const timeoutMs = 10_000

export interface RawAnswer {
  /** Everything that was received until the gateway closed. In Latin-1 a character is a byte. */
  readonly text: string
  /** The status of each answer, in order. */
  readonly statuses: readonly number[]
}

export interface SendOptions {
  /** The sender closes after this many answers. If it closed earlier, it would get none. */
  readonly answers: number
  /** The sender closes after this many milliseconds without a byte from the gateway. */
  readonly idleMs?: number
  /** The address of the sender. On Linux all of 127/8 belongs to this machine. */
  readonly from?: string
  /** True if the sender disconnects once everything is written. */
  readonly abandons?: boolean
}

/** Sends the chunks one after the other, and reads until the gateway closes. */
export async function sendRaw(
  port: number,
  chunks: readonly Buffer[],
  options: SendOptions,
): Promise<RawAnswer> {
  const { answers, idleMs, from, abandons = false } = options
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, localAddress: from })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
    if (statusesOf(text).length >= answers) socket.end()
  })
  if (idleMs !== undefined) socket.setTimeout(idleMs, () => socket.end())
  socket.on('error', ignore)
  const closed = Promise.withResolvers<void>()
  socket.once('close', () => closed.resolve())
  const timeout = setTimeout(() => closed.reject(new Error('The connection was not closed.')), timeoutMs)
  try {
    await Promise.race([once(socket, 'ready'), closed.promise])
    for (const chunk of chunks) await write(socket, chunk)
    if (abandons) socket.destroy()
    await closed.promise
  } finally {
    clearTimeout(timeout)
    socket.destroy()
  }
  return { text, statuses: statusesOf(text) }
}

export function statusesOf(text: string): number[] {
  return Array.from(text.matchAll(statusLine), ([, status]) => Number(status))
}

function write(socket: Socket, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.writable) socket.write(piece, () => resolve())
    else resolve()
  })
}

/** A reset ends the answers too; those that came before it count. */
function ignore(): void {}
