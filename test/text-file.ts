/** Owns reading what another part of a test wrote line by line. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** None while the file is not there. */
export async function readLines(folder: string, name: string): Promise<string[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}
