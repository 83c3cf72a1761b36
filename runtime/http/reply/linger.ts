/**
 * Closes a connection in a way that does not lose the reply. A socket that is closed while its sender still writes is reset, and
 * a reset may discard the reply on its way. So the whole reply is sent first, then what the sender still sends is thrown away
 * for a while, and only then is the connection closed.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'

/** How long a sender may take to see its reply and to stop. Milliseconds. */
export const lingerMs = 2000
/** How much is thrown away. Beyond that nothing is read, so that TCP stops the sender. */
export const lingerBytes = 256 * 1024

/** The head must have been written, with `Connection: close` and the length of `text` as Content-Length. */
export function endLingering(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  text: string,
  timers: Timers,
): void {
  let discarded = 0
  const timer = timers.setTimeout(close, lingerMs)

  function discard(chunk: Buffer) {
    discarded += chunk.length
    if (discarded > lingerBytes) incoming.pause()
  }
  function close() {
    timers.clearTimeout(timer)
    incoming.off('data', discard).off('end', close).off('close', close).pause()
    outgoing.end()
  }
  outgoing.write(text)
  incoming.on('error', ignore).on('data', discard).on('end', close).on('close', close).resume()
}

/** The sender hung up, which ends the wait: `close` follows. */
function ignore(): void {}
