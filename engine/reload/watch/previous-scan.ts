/**
 * Remembers the stats of the watched paths, which the next scan is compared with.
 *
 * A folder is watched for events before its stats are taken. So every change is an event, or makes stats differ.
 */

import { fileStat, isFileStat, isFolderStat, lookAt } from './file-stat.ts'
import type { FolderEvents } from './folder-events.ts'
import { type ScanOptions, scanPaths } from './scan.ts'

interface PreviousScanOptions extends Pick<ScanOptions, 'now' | 'signal'> {
  /** Undefined where folders give no events. */
  events(): FolderEvents | undefined
}

/** Stats are replaced in place: a new list for each scan would be much to collect where thousands of files are watched. */
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
    /** Called between scans: for the next scan this is no change. */
    replace(path: string, stat: string): void {
      const before = known.get(path)
      if (before) before.stat = stat
    },
    /**
     * Ends a scan and forgets the paths that were not set in it.
     *
     * @returns whether any path was new, or its stat another than before
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

/** How often a scan begins again for folders that come meanwhile; later ones are left to the next scan. */
const mostRepeats = 5
/** More files than these are left to a scan, which looks at a few at a time. */
const mostTouched = 1000

export function createPreviousScan({ events, now, signal }: PreviousScanOptions) {
  const stats = createKnownStats()
  let paths: ReadonlySet<string> = new Set()
  let touched = new Set<string>()
  let isOutdated = true

  /** Looks at everything. @returns whether anything differs from what was known */
  async function scan(): Promise<boolean> {
    let differs = false
    isOutdated = false
    touched = new Set()
    for (let repeat = 0; repeat < mostRepeats; repeat++) {
      const folders = await scanPaths(paths, { stats, now, signal })
      if (stats.conclude()) differs = true
      // A new folder gives no event of what happened in it before it was watched: it is looked at once more.
      if (!(await events()?.observe(folders))) break
    }
    return differs
  }

  /** Returns false for what is no known file any more. */
  async function look(path: string): Promise<boolean> {
    const found = isFileStat(stats.get(path)) ? await lookAt(path) : undefined
    if (typeof found !== 'object' || !found.isFile()) return false
    stats.replace(path, fileStat(found, now()))
    return true
  }

  return {
    scan,
    /** Holds from the next scan on. */
    setPaths(given: ReadonlySet<string>): void {
      paths = given
    },
    /** Something happened to this path; undefined: it is not known to which. */
    touch(path: string | undefined): void {
      if (path === undefined || touched.size === mostTouched) isOutdated = true
      else touched.add(path)
    },
    /** Looks at what was touched, and at everything if more than the content of files changed. */
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
