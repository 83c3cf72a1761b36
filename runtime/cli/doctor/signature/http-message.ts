/** Owns a request file that holds an HTTP message as tools show it: request line, headers, a blank line, the body's bytes. */

import { RequestFault } from './fault.ts'
import { addHeader, createHead } from './head.ts'
import type { FiledRequest } from './request.ts'

const requestLine = /^([A-Z]{1,20}) (\S+) HTTP\/[0-9](?:\.[0-9])?$/

/** As much as Node.js takes. */
const longestHead = 64 * 1024

const lineFeed = 0x0a

/** @throws RequestFault */
export function readHttpRequest(file: Buffer): FiledRequest {
  const headers = createHead()
  let method = ''
  let target = ''
  let at = 0
  for (let line = 1; ; line++) {
    const end = file.indexOf(lineFeed, at)
    const isLast = end === -1
    if ((isLast ? file.length : end) > longestHead)
      throw new RequestFault(line, 1, 'The request line and headers are longer than 64 KiB.')
    // Header bytes are read as Latin-1 by the gateway too.
    const text = file.toString('latin1', at, isLast ? file.length : end).replace(/\r$/, '')
    at = isLast ? file.length : end + 1
    if (line === 1) {
      const found = requestLine.exec(text)
      if (found === null) throw new RequestFault(1, 1, notARequest)
      method = found[1] ?? ''
      target = found[2] ?? ''
    } else if (text === '') break
    else {
      const colon = text.indexOf(':')
      if (!addHeader(headers, text.slice(0, Math.max(0, colon)), text.slice(colon + 1).trim()))
        throw new RequestFault(
          line,
          1,
          'This is no header. Write `name: value`, and a blank line before the body.',
        )
    }
    if (isLast) break
  }
  return { method, target, headers, rawBody: framed(file.subarray(at), headers['content-length']) }
}

/** An editor ends a file with a line break that nobody sent; where the length is known, it is no part of the body. */
function framed(rest: Buffer, contentLength = ''): Buffer {
  const length = /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : rest.length
  const isOnlyBreak = /^\r?\n?$/.test(rest.toString('latin1', length, length + 3))
  return length < rest.length && isOnlyBreak ? rest.subarray(0, length) : rest
}

const notARequest =
  'This is no request. The file holds JSON, an HTTP message (`POST /hooks/github HTTP/1.1`, headers, a blank line, the body) or a curl command.'
