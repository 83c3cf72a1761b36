/** Lists the author's own files in a folder of transforms. */

import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** The names of all files below the folder, relative to it and sorted, without those of packages; none where there is no folder. */
export async function listOwnFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.filter((name) => !name.split(path.sep).includes('node_modules')).sort()
}
