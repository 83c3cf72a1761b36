/** Takes the stats of files, so that two texts that are equal mean that nothing has changed in between. */

import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

const maxFolderDepth = 16

export interface FileStats {
  /** A digest of the stats of files and folders. Equal digests: each file is as it was. */
  readonly files: string
  /** The same with the times at which entries came to folders or went. Equal digests: nothing came and went in between either. */
  readonly entries: string
}

/**
 * Takes the stats of these paths, and of everything relevant in those that are folders, through links. `onUnlinked` is called for a file
 * that is in no folder any more, although its path leads to it: a mount shows what was replaced.
 * @throws the signal's reason
 */
export async function statsOf(
  paths: Iterable<string>,
  signal: AbortSignal,
  onUnlinked: (path: string) => void,
): Promise<FileStats> {
  const files = createHash('sha1')
  const entries = createHash('sha1')

  async function add(path: string, name: string | undefined, depth: number): Promise<void> {
    const found = await lookAt(path)
    const isFolder = typeof found === 'object' && found.isDirectory()
    if (name !== undefined && !(isFolder ? isRelevantFolder(name) : isRelevantFile(name))) return
    files.update(`${path}\n${textOf(found)}\n`)
    entries.update(`${path}\n${timeOf(found) ?? (await timeAbove(path))}\n`)
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
  return { files: files.digest('hex'), entries: entries.digest('hex') }
}

function isUnlinked(found: Stats | string): boolean {
  return typeof found === 'object' && found.isFile() && found.nlink === 0
}

/** Returns the stats of what a path leads to, or the code of the error. */
function lookAt(path: string): Promise<Stats | string> {
  return stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown')
}

/** When a file was written, or when an entry last came to a folder or went. Undefined: there is nothing. */
function timeOf(found: Stats | string): string | undefined {
  return typeof found === 'string' ? undefined : `${found.dev}:${found.ino} ${found.mtimeMs} ${found.ctimeMs}`
}

/** That of the nearest folder that there is. */
async function timeAbove(path: string): Promise<string> {
  const above = dirname(path)
  if (above === path) return ''
  return timeOf(await lookAt(above)) ?? (await timeAbove(above))
}

/** Of a folder, what identifies it and its rights: its times also depend on entries that do not matter. */
function textOf(found: Stats | string): string {
  if (typeof found === 'string') return found
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
