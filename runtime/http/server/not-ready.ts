/** Answers at the gateway's address while the gateway cannot serve yet. */

import { once } from 'node:events'
import { createServer } from 'node:http'

/** Seconds after which a sender may try again. */
const retryAfter = '5'

/**
 * Answers every request with 503 and the reason, except the probe whether the process lives. Its caller closes it before the
 * gateway itself listens.
 */
export async function answerNotReady(
  { host, port }: { readonly host: string; readonly port: number },
  reason: () => string,
): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, reply) => {
    const isAlive = request.url === '/healthz'
    const body = isAlive
      ? { ok: true }
      : {
          ok: false,
          code: 'STORE_UNAVAILABLE',
          message: `The gateway is not ready: ${reason()}.`,
          reason: reason(),
        }
    const headers = { 'content-type': 'application/json; charset=utf-8', connection: 'close' }
    reply.writeHead(isAlive ? 200 : 503, isAlive ? headers : { ...headers, 'retry-after': retryAfter })
    reply.end(JSON.stringify(body))
    // The body of a request is not read: the connection ends with the reply.
    request.resume()
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
