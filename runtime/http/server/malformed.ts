/**
 * Refuses bytes that are not valid HTTP and closes their connection. Requests that came before such bytes are answered first: a
 * sender that reads 400 after its request was accepted would send it again.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorDefinition } from '../errors.ts'
import { lingerMs } from '../reply/linger.ts'

/** See `server.ts` for why it is not imported. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

interface LastRequest {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** The reply before this one. Replies are sent in order, so once it is sent, all earlier ones are. */
  readonly before: ServerResponse | undefined
}

const lastOn = new WeakMap<Duplex, LastRequest>()
/** Nothing that follows malformed bytes on a connection is looked at. */
const broken = new WeakSet<Duplex>()

/** Checks every request first. A request that fails the check is answered here, if at all. */
export function isWellFormed(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { socket } = incoming
  if (broken.has(socket)) return false
  const before = lastOn.get(socket)?.outgoing
  lastOn.set(socket, { incoming, outgoing, before })
  if (!isFramedOddly(incoming) && !hasTwoHosts(incoming)) return true
  broken.add(socket)
  closeAfter(before, socket, replyText('MALFORMED_HTTP'))
  return false
}

/**
 * The parser accepts every transfer coding that ends in `chunked`. Only `chunked` alone is taken here, because a proxy may read the
 * others differently, and none from HTTP/1.0, which has no chunks (RFC 9112, 6.1 and 6.3).
 */
function isFramedOddly({ headers, httpVersionMinor }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return false
  return httpVersionMinor === 0 || encoding.toLowerCase() !== 'chunked'
}

/** Node.js keeps the first host, and a proxy may go by the last (RFC 9112, 3.2). */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

/** Handles bytes that the parser gave up on: there is no request to give an id to, and the connection cannot go on. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (broken.has(socket)) return
  broken.add(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const last = lastOn.get(socket)
  const isItsBody = last !== undefined && !last.incoming.complete
  const underWay = isItsBody ? last.before : last?.outgoing
  const text = isItsBody && last.outgoing.headersSent ? '' : replyText(codeOf(error.code))
  closeAfter(underWay, socket, text)
}

function closeAfter(reply: ServerResponse | undefined, socket: Duplex, text: string): void {
  if (reply === undefined || reply.writableFinished || reply.destroyed) close(socket, text)
  else reply.once('close', () => close(socket, text))
}

/** Lingers, as other early replies do: bytes that arrive at a closed socket reset it, which may lose the reply. */
function close(socket: Duplex, text: string): void {
  // The last reply may have closed it already.
  if (!socket.writable) return
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer)).end(text)
}

function replyText(code: ErrorCode): string {
  const { status, sentence } = errorDefinition(code)
  const text = JSON.stringify({ ok: false, error: sentence, code })
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`
  )
}

function codeOf(cause: string | undefined): ErrorCode {
  if (cause === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE'
  if (cause === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT'
  return 'MALFORMED_HTTP'
}
