/** Lists the files of authors. */

import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** All files below a folder of transforms but those of packages, by their sorted paths from it; none where there is no folder. */
export async function listOwnFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.filter((name) => !name.split(path.sep).includes('node_modules')).sort()
}
