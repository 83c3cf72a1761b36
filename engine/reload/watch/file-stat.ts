/** Writes the stats of a path as a text. Two equal texts mean that the path has not changed in between. */

import { lstat, type Stats } from 'node:fs'

/** Includes the visible signs of content, and the rights. `now` is in milliseconds since the Unix epoch. */
export function fileStat(stats: Stats, now: number): string {
  const { dev, ino, size, mtimeMs, ctimeMs, mode, uid, gid } = stats
  const stat = `file ${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode} ${uid} ${gid}`
  return isUnsettled(mtimeMs, now) ? `${stat} at ${now}` : stat
}

export function isFileStat(stat: string | undefined): boolean {
  return stat?.startsWith('file ') === true
}

/**
 * Leaves out times of change, which also depend on entries that do not matter. The birth time distinguishes a folder
 * from the next one of its name, which often gets the same inode number.
 */
export function folderStat({ dev, ino, birthtimeMs, mode, uid, gid }: Stats): string {
  return `folder ${dev}:${ino} ${birthtimeMs} ${mode} ${uid} ${gid}`
}

/**
 * Returns when an entry last appeared in a folder or disappeared. A file that comes and goes between two checks is
 * absent in both, and may have been read in between.
 */
export function folderStamp({ mtimeMs }: Stats, now: number): string {
  return isUnsettled(mtimeMs, now) ? `${mtimeMs} at ${now}` : `${mtimeMs}`
}

export function isFolderStat(stat: string | undefined): boolean {
  return stat?.startsWith('folder ') === true
}

/**
 * A file that is written twice within one tick of its file system's clock has the same stats after both. So a file that
 * changed just now counts as changed again. Whole seconds indicate a clock that counts in twos.
 */
function isUnsettled(mtimeMs: number, now: number): boolean {
  const age = now - mtimeMs
  return age >= 0 && age < (mtimeMs % 1000 === 0 ? 2000 : 20)
}

/** Returns the stats of a path itself, or the code of the error. It takes half the time of the promised `lstat`. */
export function lookAt(path: string): Promise<Stats | string> {
  return new Promise((resolve) => {
    lstat(path, (error, stats) => resolve(error ? (error.code ?? 'unknown') : stats))
  })
}
