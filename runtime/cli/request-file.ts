/** Reads a file that holds a request as an HTTP message: request line, headers, a blank line, and the body byte for byte. */

import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { badUsage } from './command-failure.ts'
import { shownPath } from './configuration.ts'
import type { Io } from './io.ts'

export interface FiledRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** As Node.js would hand them to the gateway; the names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: Uint8Array
}

type FileIo = Pick<Io, 'cwd' | 'input'>

/** A body of 10 MB fits in base64 too. */
const maxFileBytes = 32 * 1024 * 1024
/** As much as Node.js accepts. */
const maxHeadLength = 64 * 1024

/** @throws CommandFailure (bad usage) with the place of the fault, which quotes nothing of the file */
export async function readRequestFile(file: string, io: FileIo): Promise<FiledRequest> {
  const bytes = file === '-' ? await io.input?.() : await readGivenFile(file, io)
  if (bytes === undefined) throw badUsage('There is no standard input; name the file with --request FILE.')
  const shown = file === '-' ? 'standard input' : shownPath(path.resolve(io.cwd, file), io)
  return parseMessage(withoutMark(Buffer.from(bytes)), (line, message) => {
    throw badUsage(`${shown}:${line}:1: error: ${message}`)
  })
}

/** Undefined where the bytes are not UTF-8. A byte order mark stays. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes).toString() : undefined
}

/** @throws CommandFailure (bad usage) for a file that is missing, is a folder or is too large */
export async function readGivenFile(file: string, io: Pick<Io, 'cwd'>): Promise<Buffer> {
  const bytes = await readBounded(path.resolve(io.cwd, file)).catch((cause: NodeJS.ErrnoException) => {
    const message = cause.code === 'ENOENT' ? `There is no ${file}.` : `${file} cannot be read.`
    throw badUsage(message, { cause })
  })
  if (bytes.length > maxFileBytes) throw badUsage(`${file} is larger than 32 MiB.`)
  return bytes
}

/** Reads one byte more than allowed at most, because the path may name a device that does not end. */
async function readBounded(file: string): Promise<Buffer> {
  await using handle = await open(file)
  return Buffer.concat(await handle.createReadStream({ end: maxFileBytes, autoClose: false }).toArray())
}

/** Removes the byte order mark that some editors put before a text; that of a body follows the headers. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes
}

function parseMessage(file: Buffer, fail: (line: number, message: string) => never): FiledRequest {
  // The gateway reads the bytes of headers as Latin-1 too.
  const start = file.toString('latin1', 0, maxHeadLength)
  const { 0: blank = '', index: end = start.length } = /\r?\n\r?\n/.exec(start) ?? {}
  const [first = '', ...lines] = start.slice(0, end).split(/\r?\n/)
  const isWhole = blank !== '' || file.length <= maxHeadLength
  if (!isWhole) fail(lines.length + 1, 'The request line and headers are longer than 64 KiB.')
  const [, method, target] = /^([A-Z]{1,20}) (\S+) HTTP\/[0-9](?:\.[0-9])?$/.exec(first) ?? []
  if (method === undefined || target === undefined)
    return fail(1, file.length === 0 ? 'There is no request in it.' : notARequest)
  const headers: Record<string, string> = Object.create(null)
  for (const [index, line] of lines.entries()) {
    if (line !== '' && !addHeader(headers, line))
      fail(index + 2, 'This is no header. Write `name: value`, and a blank line before the body.')
  }
  const rest = file.subarray(end + blank.length)
  return { method, target, headers, rawBody: withoutEditorsBreak(rest, headers['content-length']) }
}

/** The first of these headers counts (https://nodejs.org/api/http.html#messageheaders); all others are joined. */
const single = new Set(['authorization', 'content-length', 'content-type', 'host', 'user-agent'])

/** Returns false where the line is not a header. */
function addHeader(headers: Record<string, string>, line: string): boolean {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/.exec(line) ?? []
  if (name === undefined) return false
  const key = name.toLowerCase()
  const earlier = headers[key]
  if (earlier === undefined) headers[key] = value.trim()
  else if (!single.has(key)) headers[key] = `${earlier}, ${value.trim()}`
  return true
}

/** Cuts the line break that an editor adds to a file, which shows only where the length of the body is given. */
function withoutEditorsBreak(rest: Buffer, contentLength = ''): Buffer {
  const length = /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : rest.length
  const isOnlyBreak = /^\r?\n?$/.test(rest.toString('latin1', length, length + 3))
  return length < rest.length && isOnlyBreak ? rest.subarray(0, length) : rest
}

const notARequest =
  'This is no request. The file holds an HTTP message: `POST /hooks/github HTTP/1.1`, headers, a blank line, the body.'
