/** Owns a connection of which every byte is ours: no client stands between a test and what the gateway makes of it. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A status line of an answer; an interim `100 Continue` is none. */
const statusLine = /HTTP\/1\.1 (?!100 )(\d{3}) /g
/** However badly it is treated, a gateway lets go of a connection that its sender has closed. */
const patienceMs = 10_000

export interface Said {
  /** Everything that was received, until the gateway closed. Latin-1, so that a character is a byte. */
  readonly text: string
  /** Of every answer, in order. */
  readonly statuses: readonly number[]
}

/**
 * Sends the pieces one after the other, says that this was all once so many answers came, and reads until the gateway
 * has closed: whoever says it earlier gets no answer.
 */
export async function say(
  port: number,
  pieces: readonly (string | Buffer)[],
  answers: number,
): Promise<Said> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
    if (statusesOf(text).length >= answers) socket.end()
  })
  socket.on('error', ignore)
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(patienceMs) })
  try {
    await Promise.race([once(socket, 'connect'), closed])
    for (const piece of pieces) await write(socket, piece)
    await closed
  } finally {
    socket.destroy()
  }
  return { text, statuses: statusesOf(text) }
}

export function statusesOf(text: string): number[] {
  return Array.from(text.matchAll(statusLine), ([, status]) => Number(status))
}

function write(socket: Socket, piece: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve()
    else socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece, () => resolve())
  })
}

/** A reset is an answer too: what came before it is what counts. */
function ignore(): void {}
