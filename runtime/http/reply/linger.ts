/**
 * Closes a connection in a way that does not lose the reply. A socket that is closed while its sender still writes is reset, and
 * a reset may discard the reply on its way. So the whole reply is sent first, then what the sender still sends is thrown away
 * for a while, and only then is the connection closed.
 */

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Timers } from '@reveille/engine'

/** Milliseconds that a sender may take to read its reply and to stop. */
export const lingerMs = 2000
/** Maximum bytes that are read and discarded. Beyond that nothing is read, so that TCP stops the sender. */
export const lingerBytes = 256 * 1024

/** A reply that ends once its sender has stopped. Its head has to have `Connection: close` and the length of `text`. */
export function lingering(text: string, incoming: IncomingMessage, timers: Timers): Readable {
  const reply = new Readable({ read() {} })
  let discarded = 0
  const timer = timers.setTimeout(end, lingerMs)

  function discard(chunk: Buffer) {
    discarded += chunk.length
    if (discarded > lingerBytes) incoming.pause()
  }
  function end() {
    timers.clearTimeout(timer)
    incoming.off('data', discard).off('end', end).off('close', end).pause()
    reply.push(null)
  }
  reply.push(text)
  incoming.on('error', ignore).on('data', discard).on('end', end).on('close', end).resume()
  return reply
}

/** The sender hung up, which ends the wait: `close` follows. */
function ignore(): void {}
