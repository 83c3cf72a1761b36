/**
 * Scans everything that is watched, through links: it brings the stats up to date, and answers the folders in which the next
 * change will happen.
 *
 * A path is followed the way the system follows it. Every folder in which a link, the path's end, or the first name
 * that is missing stands, is a folder to observe; and so is the one above it, where its own replacement shows.
 */

import type { Dirent, Stats } from 'node:fs'
import { opendir, readlink } from 'node:fs/promises'
import { basename, dirname, join, parse, resolve } from 'node:path'
import { fileStat, folderStamp, folderStat, lookAt } from './file-stat.ts'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

export interface ObservedFolder {
  /** Changes when another folder takes its place. */
  readonly identity: string
  /** Names in it that matter, whether they exist or not. */
  readonly names: Set<string>
  /** True: everything relevant in it matters. */
  whole: boolean
}

export interface ScanOptions {
  /** By real path: a path with another stat has changed. */
  readonly stats: { set(path: string, stat: string): void }
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Ends the scan between two looks. */
  readonly signal: AbortSignal
}

/** The end of a path: what is there, and where. */
interface PathEnd {
  readonly folder: string
  readonly name: string
  readonly path: string
  readonly stats: Stats
}

/** How many paths are looked at together: few enough to leave threads to others, and to hold up nothing. */
const atOnce = 8
const mostLinks = 40
const deepestFolder = 16

/**
 * @returns the folders to observe, by real path
 * @throws the signal's reason
 */
export async function scanPaths(
  paths: Iterable<string>,
  { stats: known, now, signal }: ScanOptions,
): Promise<ReadonlyMap<string, ObservedFolder>> {
  const folders = new Map<string, ObservedFolder>()
  const identities = new Map<string, string>()
  /** Folders by their real paths -> when a name last came or went, taken before any name is looked for. */
  const stamps = new Map<string, string>()
  /** Folders by the path that names them -> their real paths. */
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

  /** Undefined: there is nothing. Everything on the way is observed by then. */
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
    // What is still being looked for is looked for again: a link that leads into itself would wait for itself.
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
      // A new name has a new stat; a name that is gone shows in their number, one that came and went in the stamp.
      known.set(join(folder.path, '*'), `${names.length} since ${stamp}`)
    } catch (error) {
      signal.throwIfAborted()
      known.set(join(folder.path, '*'), `${(error as NodeJS.ErrnoException).code}`)
    }
    if (depth === deepestFolder) return
    for (const found of within) await walk(found, depth + 1)
  }

  function noteWithin(folder: string, found: PathEnd): void {
    if (found.folder === folder) known.set(found.path, fileStat(found.stats, now()))
    else note(found)
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

/** The relevant names in a folder, read some at a time: ten thousand at once would hold up the event loop. */
async function list(folder: string): Promise<string[]> {
  const names: string[] = []
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (isRelevant(entry)) names.push(entry.name)
  }
  return names
}

/** What kind an entry is of, is not always known; a link may lead to either. */
function isRelevant(entry: Dirent): boolean {
  const { name } = entry
  return (!entry.isDirectory() && isRelevantFile(name)) || (!entry.isFile() && isRelevantFolder(name))
}

function* slices<Item>(list: readonly Item[]): Generator<readonly Item[]> {
  for (let next = 0; next < list.length; next += atOnce) yield list.slice(next, next + atOnce)
}
