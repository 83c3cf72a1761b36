/** Owns putting another text into a file that a person wrote: whole or not at all, because a gateway may be watching it. */

import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises'

/** The mode stays, and a link goes on leading to the file. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const target = await realpath(file)
  const next = `${target}.${process.pid}.next`
  try {
    await writeFile(next, text, { mode: (await stat(target)).mode & 0o777 })
    await rename(next, target)
  } finally {
    await rm(next, { force: true })
  }
}
