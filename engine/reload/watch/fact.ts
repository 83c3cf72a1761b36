/** Owns what is remembered of a path, as a text: two that are equal mean that nothing happened in between. */

import { lstat, type Stats } from 'node:fs'

/** Its content as far as it shows from outside, and its rights. `now` in milliseconds since the Unix epoch. */
export function fileFact(stats: Stats, now: number): string {
  const { dev, ino, size, mtimeMs, ctimeMs, mode, uid, gid } = stats
  const fact = `file ${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode} ${uid} ${gid}`
  return isUnsettled(mtimeMs, now) ? `${fact} at ${now}` : fact
}

export function isFileFact(fact: string | undefined): boolean {
  return fact?.startsWith('file ') === true
}

/**
 * Without times: they tell of entries that may not matter. The birth time tells a folder from the next one of its
 * name, which often gets the same number.
 */
export function folderFact({ dev, ino, birthtimeMs, mode, uid, gid }: Stats): string {
  return `folder ${dev}:${ino} ${birthtimeMs} ${mode} ${uid} ${gid}`
}

/**
 * When a name last came to a folder or went. For what is not there: a file that comes and goes between two looks is
 * absent in both, and may have been read in between.
 */
export function folderStamp({ mtimeMs }: Stats, now: number): string {
  return isUnsettled(mtimeMs, now) ? `${mtimeMs} at ${now}` : `${mtimeMs}`
}

export function isFolderFact(fact: string | undefined): boolean {
  return fact?.startsWith('folder ') === true
}

/**
 * A file that is written twice within one tick of its file system's clock looks the same after both. So what changed
 * this very moment is taken to have changed again. Whole seconds are the sign of a clock that counts in twos.
 */
function isUnsettled(mtimeMs: number, now: number): boolean {
  const age = now - mtimeMs
  return age >= 0 && age < (mtimeMs % 1000 === 0 ? 2000 : 20)
}

/** The stats of a path itself, or the code of the error that says why there are none. Half the price of the promised one. */
export function lookAt(path: string): Promise<Stats | string> {
  return new Promise((resolve) => {
    lstat(path, (error, stats) => resolve(error ? (error.code ?? 'unknown') : stats))
  })
}
