/** Writes what a path looks like as a text: two equal texts mean that nothing happened in between. */

import { lstat, type Stats } from 'node:fs'

/** The content as far as it shows from outside, and the rights. `now` in milliseconds since the Unix epoch. */
export function fileStat(stats: Stats, now: number): string {
  const { dev, ino, size, mtimeMs, ctimeMs, mode, uid, gid } = stats
  const stat = `file ${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode} ${uid} ${gid}`
  return isUnsettled(mtimeMs, now) ? `${stat} at ${now}` : stat
}

export function isFileStat(stat: string | undefined): boolean {
  return stat?.startsWith('file ') === true
}

/**
 * Without times of change, which also tell of entries that do not matter. The birth time tells a folder from the next one
 * of its name, which often gets the same inode number.
 */
export function folderStat({ dev, ino, birthtimeMs, mode, uid, gid }: Stats): string {
  return `folder ${dev}:${ino} ${birthtimeMs} ${mode} ${uid} ${gid}`
}

/**
 * When a name last came to a folder or went. For what is not there: a file that comes and goes between two looks is
 * absent in both, and may have been read in between.
 */
export function folderStamp({ mtimeMs }: Stats, now: number): string {
  return isUnsettled(mtimeMs, now) ? `${mtimeMs} at ${now}` : `${mtimeMs}`
}

export function isFolderStat(stat: string | undefined): boolean {
  return stat?.startsWith('folder ') === true
}

/**
 * A file that is written twice within one tick of its file system's clock looks the same after both. So what changed
 * this very moment is taken to have changed again. Whole seconds are the sign of a clock that counts in twos.
 */
function isUnsettled(mtimeMs: number, now: number): boolean {
  const age = now - mtimeMs
  return age >= 0 && age < (mtimeMs % 1000 === 0 ? 2000 : 20)
}

/** The stats of a path itself, or the code of the error that says why there are none. Costs half as much as the promised `lstat`. */
export function lookAt(path: string): Promise<Stats | string> {
  return new Promise((resolve) => {
    lstat(path, (error, stats) => resolve(error ? (error.code ?? 'unknown') : stats))
  })
}
