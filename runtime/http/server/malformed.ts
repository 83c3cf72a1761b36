/**
 * Owns what is told to a connection whose bytes are no HTTP. Requests that came before them are answered first: an
 * accepted request whose sender is told 400 would be sent again.
 */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorRow } from '../errors.ts'
import { lingerMs } from '../reply/linger.ts'

interface Served {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Answers leave in order: with this one, all earlier ones have. */
  readonly before: ServerResponse | undefined
}

const lastOn = new WeakMap<Duplex, Served>()
/** Whatever else comes on a broken connection is broken too. */
const broken = new WeakSet<Duplex>()

/** Asked of every request first: whether it may go on. One that may not is answered here, if at all. */
export function isWellFormed(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { socket } = incoming
  if (broken.has(socket)) return false
  const before = lastOn.get(socket)?.outgoing
  lastOn.set(socket, { incoming, outgoing, before })
  if (!isFramedOddly(incoming) && !hasTwoHosts(incoming)) return true
  broken.add(socket)
  closeAfter(before, socket, wordingOf('MALFORMED_HTTP'))
  return false
}

/**
 * The parser takes whatever ends in `chunked`. We take nothing else: another reader before us may not, and HTTP/1.0
 * knows no chunks (RFC 9112, 6.1 and 6.3).
 */
function isFramedOddly({ headers, httpVersionMinor }: IncomingMessage): boolean {
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return false
  return httpVersionMinor === 0 || encoding.toLowerCase() !== 'chunked'
}

/** Node.js keeps the first one, another reader may go by the last (RFC 9112, 3.2). */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

/** Bytes that the parser gave up on: there is no request to give an id to, and no way to go on with the connection. */
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
  const text = isItsBody && last.outgoing.headersSent ? '' : wordingOf(codeOf(error.code))
  closeAfter(underWay, socket, text)
}

function closeAfter(answer: ServerResponse | undefined, socket: Duplex, text: string): void {
  if (answer === undefined || answer.writableFinished || answer.destroyed) close(socket, text)
  else answer.once('close', () => close(socket, text))
}

/** Lingers, as other early answers do: bytes that come after a socket was closed would eat what it says. */
function close(socket: Duplex, text: string): void {
  // The last answer may have closed it already.
  if (!socket.writable) return
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  timer.unref()
  socket.once('close', () => clearTimeout(timer)).end(text)
}

function wordingOf(code: ErrorCode): string {
  const { status, sentence } = errorRow(code)
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
