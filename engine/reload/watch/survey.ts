/**
 * Owns a survey: a look at everything that is watched, through links. It brings the facts up to date, and tells the
 * folders in which the next change will happen.
 *
 * A path is followed the way the system follows it. Every folder in which a link, the path's end, or the first name
 * that is missing stands, is a folder to observe; and so is the one above it, where its own replacement shows.
 */

import type { Dirent, Stats } from 'node:fs'
import { opendir, readlink } from 'node:fs/promises'
import { basename, dirname, join, parse, resolve } from 'node:path'
import { fileFact, folderFact, folderStamp, lookAt } from './fact.ts'
import type { Facts } from './facts.ts'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'

export interface ObservedFolder {
  /** Changes when another folder takes its place. */
  readonly identity: string
  /** Names in it that matter, whether they exist or not. */
  readonly names: Set<string>
  /** True: everything relevant in it matters. */
  whole: boolean
}

export interface SurveyOptions {
  /** By real path: a path with another fact has changed. */
  readonly facts: Pick<Facts, 'set'>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Ends the survey between two looks. */
  readonly signal: AbortSignal
}

/** The end of a path: what is there, and where. */
interface Found {
  readonly folder: string
  readonly name: string
  readonly path: string
  readonly stats: Stats
}

/** Looks at a time: few enough to leave threads to others and the event loop its pace. */
const atOnce = 8
const mostLinks = 40
const deepestFolder = 16

/**
 * @returns the folders to observe, by real path
 * @throws the signal's reason
 */
export async function takeSurvey(
  paths: Iterable<string>,
  { facts, now, signal }: SurveyOptions,
): Promise<ReadonlyMap<string, ObservedFolder>> {
  const folders = new Map<string, ObservedFolder>()
  const identities = new Map<string, string>()
  /** Folders by their real paths -> when a name last came or went, taken before anybody looked for one. */
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

  /** Undefined: there is nothing. Whatever was met on the way is observed by then. */
  async function reach(path: string, links = 0): Promise<Found | undefined> {
    const above = dirname(path)
    const folder = await placeOf(above, links)
    return folder === undefined ? undefined : look(folder, basename(path), links)
  }

  async function look(folder: string, name: string, links = 0): Promise<Found | undefined> {
    const path = join(folder, name)
    const stats = await lookAt(path)
    if (typeof stats !== 'string' && !stats.isSymbolicLink()) return { folder, name, path, stats }
    observe(folder, name)
    const target = typeof stats === 'string' ? undefined : await readlink(path).catch(() => undefined)
    facts.set(path, target === undefined ? `nothing since ${stamps.get(folder)}` : `link ${target}`)
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
      identities.set(folder, typeof stats === 'string' ? stats : folderFact(stats))
      if (typeof stats !== 'string') stamps.set(folder, folderStamp(stats, now()))
      return folder
    }
    const found = await reach(folder, links)
    if (!found) return undefined
    if (found.stats.isDirectory()) {
      identities.set(found.path, folderFact(found.stats))
      stamps.set(found.path, folderStamp(found.stats, now()))
      return found.path
    }
    note(found)
    return undefined
  }

  function note({ folder, name, path, stats }: Found): void {
    observe(folder, name)
    facts.set(path, stats.isDirectory() ? folderFact(stats) : fileFact(stats, now()))
  }

  async function walk(folder: Found, depth: number): Promise<void> {
    identities.set(folder.path, folderFact(folder.stats))
    const stamp = folderStamp(folder.stats, now())
    stamps.set(folder.path, stamp)
    const observed = observe(folder.path)
    if (observed.whole) return
    observed.whole = true
    facts.set(folder.path, folderFact(folder.stats))
    const within: Found[] = []
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
      // A new name is a new fact; that one is gone shows in their number, that one came and went in the stamp.
      facts.set(join(folder.path, '*'), `${names.length} since ${stamp}`)
    } catch (error) {
      signal.throwIfAborted()
      facts.set(join(folder.path, '*'), `${(error as NodeJS.ErrnoException).code}`)
    }
    if (depth === deepestFolder) return
    for (const found of within) await walk(found, depth + 1)
  }

  function noteWithin(folder: string, found: Found): void {
    if (found.folder === folder) facts.set(found.path, fileFact(found.stats, now()))
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
