/** Takes the stats of files, so that two texts that are equal mean that nothing has changed in between. */

import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

const maxFolderDepth = 16

/**
 * Returns a digest of the stats of these paths, and of everything relevant in those that are folders, through links. `onUnlinked` is
 * called for a file that is in no folder any more, although its path leads to it: a mount shows what was replaced.
 * @throws the signal's reason
 */
export async function statsOf(
  paths: Iterable<string>,
  signal: AbortSignal,
  onUnlinked: (path: string) => void,
): Promise<string> {
  const digest = createHash('sha1')

  async function add(path: string, name: string | undefined, depth: number): Promise<void> {
    const found = await lookAt(path)
    const isFolder = typeof found === 'object' && found.isDirectory()
    if (name !== undefined && !(isFolder ? isRelevantFolder(name) : isRelevantFile(name))) return
    digest.update(`${path}\n${typeof found === 'string' ? found : textOf(found)}\n`)
    // A file that is replaced at this moment has no name for an instant, so it is checked a second time.
    if (isUnlinked(found) && isUnlinked(await lookAt(path))) onUnlinked(path)
    if (!isFolder || depth === maxFolderDepth) return
    const names = await readdir(path).catch((error: NodeJS.ErrnoException) => [`${error.code}`])
    const relevant = names.filter((each) => isRelevantFile(each) || isRelevantFolder(each)).toSorted()
    for (const each of relevant) {
      signal.throwIfAborted()
      await add(join(path, each), each, depth + 1)
    }
  }

  for (const path of [...paths].toSorted()) {
    signal.throwIfAborted()
    await add(path, undefined, 0)
  }
  return digest.digest('hex')
}

function isUnlinked(found: Stats | string): boolean {
  return typeof found === 'object' && found.isFile() && found.nlink === 0
}

/** Returns the stats of what a path leads to, or the code of the error. */
function lookAt(path: string): Promise<Stats | string> {
  return stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown')
}

/** Of a folder, what identifies it and its rights: its times also depend on entries that do not matter. */
function textOf(found: Stats): string {
  const { dev, ino, birthtimeMs, size, mtimeMs, ctimeMs, mode, uid, gid } = found
  if (found.isDirectory()) return `folder ${dev}:${ino} ${birthtimeMs} ${mode} ${uid} ${gid}`
  const text = `file ${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode} ${uid} ${gid}`
  return isUnsettled(ctimeMs) ? `${text} at ${Date.now()}` : text
}

/**
 * A file that is written twice within one tick of its file system's clock has the same stats after both. So a file that
 * changed just now counts as changed again. Whole seconds indicate a clock that counts in twos.
 */
function isUnsettled(time: number): boolean {
  return Math.abs(Date.now() - time) < (time % 1000 === 0 ? 2000 : 20)
}
