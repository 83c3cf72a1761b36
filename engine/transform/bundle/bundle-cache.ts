/** Keeps bundles in a folder, each with an entry about its sources, and deletes those that are not used. */

import { hash } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import { areUnchanged, createStampReader, type Stamps } from './freshness.ts'
import type { BuiltModule } from './module-build.ts'

export interface CacheEntry {
  readonly entry: string
  /** The requested exports of a CommonJS module. Null for an ES module, whose exports are known. */
  readonly exports: readonly string[] | null
  readonly digest: string
  /** The SHA-256 of the bundle in hex. */
  readonly codeHash: string
  readonly inputs: readonly string[]
  readonly stamps: Stamps
  /** The stamps of the bundle and of its source map. */
  readonly ownStamps: Stamps
  readonly warnings: readonly Diagnostic[]
}

interface BundleCache {
  fileOf(digest: string): string
  /** Returns the entry of a module, which may be from an earlier process. */
  find(key: string): Promise<CacheEntry | undefined>
  put(key: string, built: BuiltModule, entry: Omit<CacheEntry, 'ownStamps'>): Promise<CacheEntry>
  /** Forgets all other entries. On disk they stay until the next sweep. */
  keepOnly(keys: readonly string[]): void
  /** Deletes all bundles except those with these digests and those of known entries. */
  sweep(digests: Iterable<string>): Promise<void>
}

/** Increased whenever the content of an entry changes. */
const format = 3
/** An older unfinished file was left by a process that died. Milliseconds. */
const longestWriteMs = 600_000

/** @param toolStamps the stamps of the programs that make bundles; entries made by other versions are not used */
export function createBundleCache(folder: string, toolStamps: () => Promise<Stamps>): BundleCache {
  const entries = new Map<string, CacheEntry>()
  const fileOf = (digest: string) => path.join(folder, `${digest}.mjs`)
  const entryName = (key: string) => `${hash('sha256', key).slice(0, 32)}.json`

  async function read(key: string): Promise<CacheEntry | undefined> {
    try {
      const { check, entry } = JSON.parse(await readFile(path.join(folder, entryName(key)), 'utf8'))
      return check === (await checkOf()) ? entry : undefined
    } catch {
      return undefined
    }
  }

  /** Source maps name their sources relative to the folder, so bundles of another folder are not used either. */
  async function checkOf(): Promise<string> {
    return JSON.stringify([format, folder, await toolStamps()])
  }

  return {
    fileOf,
    async find(key) {
      const entry = entries.get(key) ?? (await read(key))
      // A known entry is not deleted while its files are checked.
      if (entry) entries.set(key, entry)
      return entry
    },
    async put(key, { code, map }, written) {
      const file = fileOf(written.digest)
      // The map is renamed first, so that a bundle always has its map.
      await rename(map, `${file}.map`)
      await rename(code, file)
      const stamp = createStampReader()
      const ownStamps = { [file]: await stamp(file), [`${file}.map`]: await stamp(`${file}.map`) }
      const entry = { ...written, ownStamps }
      entries.set(key, entry)
      const next = `${code}.json.next`
      await writeFile(next, JSON.stringify({ check: await checkOf(), entry }), { mode: 0o600 })
      await rename(next, path.join(folder, entryName(key)))
      return entry
    },
    keepOnly(keys) {
      const kept = new Set(keys)
      for (const key of entries.keys()) if (!kept.has(key)) entries.delete(key)
    },
    async sweep(needed) {
      const digests = new Set([...needed, ...[...entries.values()].map(({ digest }) => digest)])
      const names = new Set([...entries.keys()].map(entryName))
      for (const name of await namesIn(folder)) {
        const file = path.join(folder, name)
        const [digest] = /^[0-9a-f]{64}(?=\.mjs(?:\.map)?$)/.exec(name) ?? []
        const isUseless =
          (digest !== undefined && !digests.has(digest)) ||
          (/^[0-9a-f]{32}\.json$/.test(name) && !names.has(name)) ||
          (/\.next(?:\.map)?$/.test(name) && (await isLeftOver(file)))
        if (isUseless) await rm(file, { force: true })
      }
    },
  }
}

/** Whether a bundle can be used again: it is complete, its sources have not changed, and it has the exports. */
export async function isFresh(
  cached: CacheEntry,
  wanted: { readonly entry: string; readonly exports: readonly string[] },
  readStamp: (path: string) => Promise<string | null>,
): Promise<boolean> {
  const { entry, exports, stamps, ownStamps } = cached
  if (entry !== wanted.entry) return false
  if (exports !== null && !wanted.exports.every((name) => exports.includes(name))) return false
  return (await areUnchanged(ownStamps, readStamp)) && (await areUnchanged(stamps, readStamp))
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    // There are no bundles yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function isLeftOver(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > longestWriteMs
}
