/**
 * Decides whether the files that a bundle was made from are unchanged. Each has a stamp: its stats in the file system,
 * which change with its content. A missing path has a stamp as well, because a file that appears there may be imported
 * in place of another.
 */

import type { BigIntStats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type { Metafile } from 'esbuild'
import { candidatesOf, extendedBy, governingFolders, isPackaged } from './resolution.ts'

/** Stamps by absolute path. Null if nothing is there. */
export type Stamps = Readonly<Record<string, string | null>>

export interface Decisive {
  /** The files that went into a bundle, with the package.json and tsconfig.json files that apply to them. */
  readonly inputs: readonly string[]
  /** The stamps of the inputs, and of every path where an import was or would have been looked up. */
  readonly stamps: Stamps
}

/**
 * A file that changed less than this before the build may have changed again after it was read, within one tick of the
 * file system's clock, which may be two seconds. Milliseconds.
 */
const uncertainMs = 2_000
/** The stamp of such a file, which equals no other stamp. */
const uncertain = 'uncertain'
const batch = 64

/** Reads stamps, each at most once. */
export function createStampReader(): (path: string) => Promise<string | null> {
  const known = new Map<string, Promise<string | null>>()
  return (file) => {
    const stamp = known.get(file) ?? statsOf(file).then((found) => (found ? stampOf(found) : null))
    known.set(file, stamp)
    return stamp
  }
}

export async function areUnchanged(
  stamps: Stamps,
  read: (path: string) => Promise<string | null>,
): Promise<boolean> {
  const entries = Object.entries(stamps)
  for (let from = 0; from < entries.length; from += batch) {
    const current = await Promise.all(
      entries.slice(from, from + batch).map(async ([file, stamp]) => (await read(file)) === stamp),
    )
    if (current.includes(false)) return false
  }
  return true
}

/**
 * Finds everything that a build depended on.
 * @param files every file that was read
 * @param imports the imports of those files, if the build got that far
 * @param missing the paths where missing imports were looked up
 * @param startedAt milliseconds since the Unix epoch
 */
export async function findDecisive(
  files: readonly string[],
  imports: Metafile['inputs'],
  missing: readonly string[],
  startedAt: number,
): Promise<Decisive> {
  const stamps = new Map<string, string | null>()
  const inputs = new Set(files)

  async function note(file: string): Promise<string | null> {
    const known = stamps.get(file)
    if (known !== undefined) return known
    const found = await statsOf(file)
    const isUncertain = found?.isFile() && Number(found.ctimeMs) > startedAt - uncertainMs
    const stamp = found === undefined ? null : isUncertain ? uncertain : stampOf(found)
    stamps.set(file, stamp)
    return stamp
  }

  async function noteNearest(name: string, file: string): Promise<string | undefined> {
    for (const folder of governingFolders(file)) {
      const candidate = path.join(folder, name)
      if ((await note(candidate)) === null) continue
      inputs.add(candidate)
      return candidate
    }
    return undefined
  }

  async function noteTsconfig(tsconfig: string): Promise<void> {
    const text = await readFile(tsconfig, 'utf8').catch(() => '')
    for (const parent of extendedBy(tsconfig, text)) {
      if (stamps.has(parent) || (await note(parent)) === null) continue
      inputs.add(parent)
      await noteTsconfig(parent)
    }
  }

  for (const file of files) {
    await note(file)
    await noteNearest('package.json', file)
    if (isPackaged(file)) continue
    for (const name of ['tsconfig.json', 'jsconfig.json']) {
      const tsconfig = await noteNearest(name, file)
      if (tsconfig !== undefined) await noteTsconfig(tsconfig)
    }
  }
  for (const file of files)
    for (const place of lookedUp(file, imports[file]?.imports ?? [])) await note(place)
  for (const place of missing) await note(place)
  return { inputs: [...inputs], stamps: Object.fromEntries(stamps) }
}

/** Yields the paths where the imports of a file were looked up, up to the one that was found. */
function* lookedUp(importer: string, imports: Metafile['inputs'][string]['imports']): Iterable<string> {
  for (const { path: resolved, original: specifier = resolved, external } of imports) {
    // A change in an installed package changes its package.json too.
    if (isBuiltin(specifier) || (isPackaged(importer) && specifier.startsWith('.'))) continue
    for (const candidate of candidatesOf(specifier, path.dirname(importer))) {
      yield candidate
      if (!external && (candidate === resolved || resolved.startsWith(candidate + path.sep))) break
    }
  }
}

/** The files in a folder have their own stamps, so the folder's stamp only identifies it. */
function stampOf(found: BigIntStats): string {
  const { ino, size, mtimeNs, ctimeNs } = found
  return found.isDirectory() ? `folder ${ino}` : [ino, size, mtimeNs, ctimeNs].join(' ')
}

/** Returns undefined also for a path that may not be read, because no import is found there. */
function statsOf(file: string): Promise<BigIntStats | undefined> {
  return stat(file, { bigint: true }).catch(() => undefined)
}
