/** Owns what the hook surface asks of the HTTP server. */

import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorRow } from './errors.ts'

/** For the head of a request; a sender has no reason to take long. */
const headersTimeoutMs = 20_000
/** For a whole request. Above any sensible `hooks.bodyTimeoutMs`, which answers better. */
const requestTimeoutMs = 300_000
/** An idle connection is kept a little longer than the usual minute of proxies, so that they close it and not we. */
const keepAliveTimeoutMs = 72_000
/** How often the server looks for requests that took too long. */
const checkEveryMs = 5_000

export const httpOptions = {
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: checkEveryMs,
} as const

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

/** Bytes that are no HTTP: there is no request to give an id to, and no way to go on with the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codeOf(error.code)
  const { status, sentence } = errorRow(code)
  const text = JSON.stringify({ ok: false, error: sentence, code })
  socket.end(
    `HTTP/1.1 ${status} ${reasonOf(code)}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  )
}

function codeOf(cause: string | undefined): ErrorCode {
  if (cause === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE'
  if (cause === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT'
  return 'MALFORMED_HTTP'
}

function reasonOf(code: ErrorCode): string {
  return STATUS_CODES[errorRow(code).status] ?? ''
}

/** A URL that Fastify's router cannot decode climbs the ladder like any other, and is not found there. */
function passUnroutable(
  this: FastifyInstance,
  _error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.hijack()
  request.server.hookSurface?.receive(request.raw, reply.raw, request.ip)
}
