/** Reads the lines that another part of a test has written. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns no lines while the file does not exist. */
export async function readLines(folder: string, name: string): Promise<string[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}
