/**
 * Scans everything that is watched, through links: updates the stats, and returns the folders in which the next change
 * will happen.
 * A path is followed the way the system follows it. Every folder that contains a link, the path's end, or the first
 * missing name, is a folder to observe; and so is the one above it, where its own replacement shows.
 */

import type { Dirent, Stats } from 'node:fs'
import { opendir, readlink } from 'node:fs/promises'
import { basename, dirname, join, parse, resolve } from 'node:path'
import { fileStat, folderStamp, folderStat, lookAt } from './file-stat.ts'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

export interface ObservedFolder {
  /** Changes when another folder takes its place. */
  readonly identity: string
  /** The names in it that matter, whether they exist or not. */
  readonly names: Set<string>
  /** Whether everything relevant in it matters. */
  whole: boolean
}

export interface ScanOptions {
  /** Keyed by real path. A path with other stats has changed. */
  readonly stats: { set(path: string, stat: string): void }
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Ends the scan between two checks. */
  readonly signal: AbortSignal
  /** Called for a file that is in no folder any more, although its path leads to it: a mount shows what was replaced. */
  readonly onUnlinked?: ((path: string) => void) | undefined
}

/** The end of a path: what is there, and where. */
interface PathEnd {
  readonly folder: string
  readonly name: string
  readonly path: string
  readonly stats: Stats
}

/** The number of paths that are checked together, small enough to leave threads to others and to delay nothing. */
const atOnce = 8
const mostLinks = 40
const deepestFolder = 16

/**
 * @returns the folders to observe, by real path
 * @throws the signal's reason
 */
export async function scanPaths(
  paths: Iterable<string>,
  { stats: known, now, signal, onUnlinked }: ScanOptions,
): Promise<ReadonlyMap<string, ObservedFolder>> {
  const folders = new Map<string, ObservedFolder>()
  const identities = new Map<string, string>()
  /**
   * Maps the real path of a folder to the time when an entry last appeared or disappeared, taken before any name is
   * looked up.
   */
  const stamps = new Map<string, string>()
  /** Maps a path of a folder to its real path. */
  const places = new Map<string, string | undefined>()

  function observe(folder: string, name?: string): ObservedFolder {
    let observed = folders.get(folder)
    if (!observed) {
      observed = { identity: identities.get(folder) ?? '', names: new Set(), whole: false }
      folders.set(folder, observed)
    }
    if (name !== undefined) observed.names.add(name)
    return observed
  }

  /** Returns undefined if there is nothing. Everything on the way is observed by then. */
  async function reach(path: string, links = 0): Promise<PathEnd | undefined> {
    const above = dirname(path)
    const folder = await placeOf(above, links)
    return folder === undefined ? undefined : look(folder, basename(path), links)
  }

  async function look(folder: string, name: string, links = 0): Promise<PathEnd | undefined> {
    const path = join(folder, name)
    const stats = await lookAt(path)
    if (typeof stats !== 'string' && !stats.isSymbolicLink()) return { folder, name, path, stats }
    observe(folder, name)
    const target = typeof stats === 'string' ? undefined : await readlink(path).catch(() => undefined)
    known.set(path, target === undefined ? `nothing since ${stamps.get(folder)}` : `link ${target}`)
    if (target === undefined || links === mostLinks) return undefined
    return reach(resolve(folder, target), links + 1)
  }

  async function placeOf(folder: string, links: number): Promise<string | undefined> {
    // A path that is still being looked up is looked up again, because a circular link would wait for itself.
    if (!places.has(folder)) places.set(folder, await findPlace(folder, links))
    return places.get(folder)
  }

  async function findPlace(folder: string, links: number): Promise<string | undefined> {
    if (folder === parse(folder).root) {
      const stats = await lookAt(folder)
      identities.set(folder, typeof stats === 'string' ? stats : folderStat(stats))
      if (typeof stats !== 'string') stamps.set(folder, folderStamp(stats, now()))
      return folder
    }
    const found = await reach(folder, links)
    if (!found) return undefined
    if (found.stats.isDirectory()) {
      identities.set(found.path, folderStat(found.stats))
      stamps.set(found.path, folderStamp(found.stats, now()))
      return found.path
    }
    note(found)
    return undefined
  }

  function note({ folder, name, path, stats }: PathEnd): void {
    observe(folder, name)
    known.set(path, stats.isDirectory() ? folderStat(stats) : fileStat(stats, now()))
    if (stats.isFile() && stats.nlink === 0) onUnlinked?.(path)
  }

  async function walk(folder: PathEnd, depth: number): Promise<void> {
    identities.set(folder.path, folderStat(folder.stats))
    const stamp = folderStamp(folder.stats, now())
    stamps.set(folder.path, stamp)
    const observed = observe(folder.path)
    if (observed.whole) return
    observed.whole = true
    known.set(folder.path, folderStat(folder.stats))
    const within: PathEnd[] = []
    try {
      const names = await list(folder.path)
      for (const some of slices(names)) {
        signal.throwIfAborted()
        const ends = await Promise.all(some.map((name) => look(folder.path, name)))
        for (const [index, found] of ends.entries()) {
          if (found?.stats.isDirectory()) within.push(found)
          else if (found && isRelevantFile(some[index] ?? '')) noteWithin(folder.path, found)
        }
      }
      // A new name has new stats. A deleted name shows in their number, and one that came and went in the stamp.
      known.set(join(folder.path, '*'), `${names.length} since ${stamp}`)
    } catch (error) {
      signal.throwIfAborted()
      known.set(join(folder.path, '*'), `${(error as NodeJS.ErrnoException).code}`)
    }
    if (depth === deepestFolder) return
    for (const found of within) await walk(found, depth + 1)
  }

  function noteWithin(folder: string, found: PathEnd): void {
    if (found.folder !== folder || found.stats.nlink === 0) note(found)
    else known.set(found.path, fileStat(found.stats, now()))
  }

  for (const some of slices([...paths])) {
    signal.throwIfAborted()
    for (const found of await Promise.all(some.map((path) => reach(path)))) {
      if (!found) continue
      note(found)
      if (found.stats.isDirectory()) await walk(found, 0)
    }
  }
  for (const folder of [...folders.keys()]) {
    if (dirname(folder) !== folder) observe(dirname(folder), basename(folder))
  }
  return folders
}

/**
 * Lists the relevant names in a folder. They are checked some at a time, because ten thousand at once would hold the
 * event loop.
 */
async function list(folder: string): Promise<string[]> {
  const names: string[] = []
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (isRelevant(entry)) names.push(entry.name)
  }
  return names
}

/** The kind of an entry is not always known, and a link may lead to either. */
function isRelevant(entry: Dirent): boolean {
  const { name } = entry
  return (!entry.isDirectory() && isRelevantFile(name)) || (!entry.isFile() && isRelevantFolder(name))
}

function* slices<Item>(list: readonly Item[]): Generator<readonly Item[]> {
  for (let next = 0; next < list.length; next += atOnce) yield list.slice(next, next + atOnce)
}
