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

export interface Saying {
  /** Once so many answers came the sender says that this was all: whoever says it earlier gets none. */
  readonly answers: number
  /** Or after so many milliseconds without a word of the gateway. */
  readonly idleMs?: number
  /** The address that it is said from; on Linux all of 127/8 is this machine's. */
  readonly from?: string
  /** The sender is gone once everything is written. */
  readonly abandons?: boolean
}

/** Sends the pieces one after the other, and reads until the gateway has closed. */
export async function say(port: number, pieces: readonly Buffer[], saying: Saying): Promise<Said> {
  const { answers, idleMs, from, abandons = false } = saying
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
  const patience = setTimeout(() => closed.reject(new Error('The connection was not closed.')), patienceMs)
  try {
    await Promise.race([once(socket, 'ready'), closed.promise])
    for (const piece of pieces) await write(socket, piece)
    if (abandons) socket.destroy()
    await closed.promise
  } finally {
    clearTimeout(patience)
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

/** A reset is an answer too: what came before it is what counts. */
function ignore(): void {}
