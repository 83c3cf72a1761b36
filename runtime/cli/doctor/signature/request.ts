/** Owns the file that holds a request to be diagnosed: JSON, an HTTP message or a curl command. */

import { open } from 'node:fs/promises'
import path from 'node:path'
import { CommandFailure } from '../../command-failure.ts'
import { shownPath } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { readCurlCommand } from './curl.ts'
import { RequestFault } from './fault.ts'
import type { Head } from './head.ts'
import { readHttpRequest } from './http-message.ts'
import { readJsonRequests } from './json.ts'

export interface FiledRequest {
  /** What the file calls it, where it holds several. */
  readonly label?: string
  readonly method: string
  /** Absent: the file does not say. */
  readonly target?: string
  /** The address, where the file says all of it. */
  readonly url?: string
  readonly headers: Head
  readonly rawBody: Uint8Array
  /** When it arrived, in milliseconds since the Unix epoch, where the file says. */
  readonly now?: number
  /** The file holds the body as a value; its bytes are a guess. */
  readonly isBodyWrittenAnew?: boolean
}

type World = Pick<Io, 'cwd' | 'input'>

/** A body of 10 MB fits, in base64 and between quotes too. */
const longestFile = 32 * 1024 * 1024

/** @throws CommandFailure (bad usage) with the place */
export async function readRequests(file: string, io: World): Promise<readonly FiledRequest[]> {
  const bytes = withoutMark(file === '-' ? await readInput(io) : await readBounded(file, io))
  if (bytes.length > longestFile) throw new CommandFailure(2, `${shown(file, io)} is larger than 32 MiB.`)
  try {
    return readAny(bytes)
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    throw new CommandFailure(2, `${shown(file, io)}:${error.line}:${error.column}: error: ${error.message}`, {
      cause: error,
    })
  }
}

function readAny(bytes: Buffer): readonly FiledRequest[] {
  const start = bytes.toString('utf8', 0, 1024).trimStart()
  if (start === '') throw new RequestFault(1, 1, 'There is no request in it.')
  if (/^[{[]/.test(start)) return readJsonRequests(bytes.toString('utf8'))
  if (/^(?:\$ )?curl\s/.test(start)) return [readCurlCommand(bytes.toString('utf8'))]
  return [readHttpRequest(bytes)]
}

async function readInput(io: World): Promise<Buffer> {
  const input = await io.input?.()
  if (input === undefined)
    throw new CommandFailure(2, 'There is no standard input; name the file with --request FILE.')
  return Buffer.from(input)
}

/** Never more than one byte too many: the path may name a device that does not end. */
async function readBounded(file: string, io: World): Promise<Buffer> {
  try {
    const handle = await open(path.resolve(io.cwd, file))
    try {
      const chunks: Buffer[] = []
      let length = 0
      for await (const chunk of handle.createReadStream({ end: longestFile, autoClose: false })) {
        chunks.push(chunk)
        length += chunk.length
      }
      return Buffer.concat(chunks, length)
    } finally {
      await handle.close()
    }
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandFailure(2, missing ? `There is no ${file}.` : `${file} cannot be read.`, { cause })
  }
}

/** The byte order mark that some editors put before a text; that of a body stands behind the headers. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function shown(file: string, io: World): string {
  return file === '-' ? 'standard input' : shownPath(path.resolve(io.cwd, file), io)
}
