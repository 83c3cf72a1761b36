/**
 * Keeps the stats of the watched paths, with which the next scan is compared.
 * A folder is watched for events before its stats are taken. So every change is an event, or makes the stats differ.
 */

import { fileStat, isFileStat, isFolderStat, lookAt } from './file-stat.ts'
import type { FolderEvents } from './folder-events.ts'
import { type ScanOptions, scanPaths } from './scan.ts'

interface PreviousScanOptions extends Pick<ScanOptions, 'now' | 'signal' | 'onUnlinked'> {
  /** Returns undefined if folders give no events. */
  events(): FolderEvents | undefined
}

/** Stats are replaced in place, because a new list for each scan of thousands of files would be much garbage. */
export function createKnownStats() {
  const known = new Map<string, { stat: string; scan: number }>()
  let scan = 0
  let hasChanged = false

  return {
    get: (path: string) => known.get(path)?.stat,
    /** Called by a scan. */
    set(path: string, stat: string): void {
      const before = known.get(path)
      if (before?.stat !== stat) hasChanged = true
      if (!before) known.set(path, { stat, scan })
      else {
        if (before.stat !== stat) before.stat = stat
        before.scan = scan
      }
    },
    /** Called between scans, so that the next scan sees no change. */
    replace(path: string, stat: string): void {
      const before = known.get(path)
      if (before) before.stat = stat
    },
    /**
     * Ends a scan and forgets the paths that it did not set.
     * @returns whether any path was new, or has other stats than before
     */
    conclude(): boolean {
      for (const [path, last] of known) if (last.scan !== scan) known.delete(path)
      scan++
      const didChange = hasChanged
      hasChanged = false
      return didChange
    },
  }
}

/** The number of times a scan begins again for folders that appear meanwhile. Later ones are left to the next scan. */
const mostRepeats = 5
/** More files than these are left to a scan, which checks a few at a time. */
const mostTouched = 1000

export function createPreviousScan({ events, now, signal, onUnlinked }: PreviousScanOptions) {
  const stats = createKnownStats()
  let paths: ReadonlySet<string> = new Set()
  let touched = new Set<string>()
  let isOutdated = true

  /** Checks everything. @returns whether anything has changed */
  async function scan(): Promise<boolean> {
    let differs = false
    isOutdated = false
    touched = new Set()
    for (let repeat = 0; repeat < mostRepeats; repeat++) {
      const folders = await scanPaths(paths, { stats, now, signal, onUnlinked })
      if (stats.conclude()) differs = true
      // A new folder gives no event for changes before it was watched, so it is checked once more.
      if (!(await events()?.observe(folders))) break
    }
    return differs
  }

  /** Returns false for a path that is no known file any more. */
  async function look(path: string): Promise<boolean> {
    const found = isFileStat(stats.get(path)) ? await lookAt(path) : undefined
    if (typeof found !== 'object' || !found.isFile()) return false
    stats.replace(path, fileStat(found, now()))
    return true
  }

  return {
    scan,
    /** Takes effect at the next scan. */
    setPaths(given: ReadonlySet<string>): void {
      paths = given
    },
    /** Records that this path changed. Undefined: the path is unknown. */
    touch(path: string | undefined): void {
      if (path === undefined || touched.size === mostTouched) isOutdated = true
      else touched.add(path)
    },
    /** Checks the recorded paths, or everything if more than the content of files changed. */
    async update(): Promise<void> {
      const files = touched
      touched = new Set()
      for (const file of files) {
        isOutdated ||= !(await look(file))
        if (isOutdated) break
      }
      if (isOutdated) await scan()
    },
    isKnownFile: (path: string) => isFileStat(stats.get(path)),
    /** Whether a path is or was a folder, or a link that may lead to one. */
    async isOrWasFolder(path: string): Promise<boolean> {
      if (isFolderStat(stats.get(path))) return true
      const found = await lookAt(path)
      return typeof found === 'object' && (found.isDirectory() || found.isSymbolicLink())
    },
  }
}
