/** Lists and writes files of authors. */

import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** All files below a folder of transforms but those of packages, by their sorted paths from it; none where there is no folder. */
export async function listOwnFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.filter((name) => !name.split(path.sep).includes('node_modules')).sort()
}

/** Returns false where there is a file already, which stays as it is. */
export async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
