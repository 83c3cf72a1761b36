/** Decompresses bodies by their content encoding; the decoded body is under the same limit as the sent one. */

import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib'
import { RequestError } from '../errors.ts'

type Decoder = (body: Buffer, options: ZlibOptions) => Promise<Buffer>

const decoders = new Map<string, Decoder>([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
  ['deflate', inflateEither],
])

/** decompress returns the decoded body. @throws RequestError `UNSUPPORTED_ENCODING`, `BAD_ENCODING`, `BODY_TOO_LARGE` */
export async function decompress(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return body
  const decode = decoders.get(name)
  if (!decode) throw new RequestError('UNSUPPORTED_ENCODING')
  if (body.length === 0) return body
  try {
    return await decode(body, { maxOutputLength: maxBytes })
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new RequestError(tooLarge ? 'BODY_TOO_LARGE' : 'BAD_ENCODING', { cause: error })
  }
}

/** `deflate` means the zlib format (RFC 9110, 8.4.1.2), yet some senders leave its two-byte header out. */
function inflateEither(body: Buffer, options: ZlibOptions): Promise<Buffer> {
  const hasHeader = body.length > 1 && (body.readUInt8(0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
  return promisify<Buffer, ZlibOptions, Buffer>(hasHeader ? inflate : inflateRaw)(body, options)
}
