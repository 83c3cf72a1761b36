/** Owns what the hook surface asks of the HTTP server. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../clients/client.ts'
import { refuseMalformed } from './malformed.ts'

/** For the head of a request; a sender has no reason to take long. */
const headersTimeoutMs = 20_000
/** For a whole request. Above any sensible `hooks.bodyTimeoutMs`, which answers better. */
const requestTimeoutMs = 300_000
/** An idle connection is kept a little longer than the usual minute of proxies, so that they close it and not we. */
const keepAliveTimeoutMs = 72_000
/** For the request line and all headers together. Bytes. */
const maxHeaderSize = 16 * 1024
/** How often the server looks for requests that took too long. */
const checkEveryMs = 5_000

export const httpOptions = {
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: checkEveryMs,
  maxHeaderSize,
  requireHostHeader: true,
  // Said here, no flag of Node.js makes the parser take what smuggles requests past a proxy.
  insecureHTTPParser: false,
} as const

/** Their size bounds the headers; past a count, Node.js would leave some out without a word. */
export const maxHeadersCount = 0
/** A proxy sends all that it has over few connections, and each request is checked by itself. 0: no limit. */
export const maxRequestsPerSocket = 0

export const serverOptions = {
  /** One line for each request is written by the surface that answers it. */
  logger: false,
  /** The ladder answers while the server closes: with `DRAINING` and `Retry-After`. */
  return503OnClosing: false,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: keepAliveTimeoutMs,
  clientErrorHandler: refuseMalformed,
  frameworkErrors: passUnroutable,
} as const

/** A URL that Fastify's router cannot decode climbs the ladder like any other, and is not found there. */
function passUnroutable(
  this: FastifyInstance,
  _error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.hijack()
  request.server.hookSurface?.receive(request.raw, reply.raw, clientOf(request))
}
