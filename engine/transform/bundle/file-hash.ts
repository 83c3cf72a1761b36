/** Owns the hash of a file's content, taken in pieces, so that a large file holds nobody up. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/** Read at one time, in bytes: hashed in well under a millisecond. */
const pieceBytes = 256 * 1024

/** SHA-256 in hex, or undefined where there is no such file. @throws other errors of the file system */
export async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    // A stream costs far more than a small file.
    if ((await stat(file)).size <= pieceBytes) return hashText(await readFile(file))
    await pipeline(createReadStream(file, { highWaterMark: pieceBytes }), hash)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
  return hash.digest('hex')
}

export function hashText(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

export function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
}
