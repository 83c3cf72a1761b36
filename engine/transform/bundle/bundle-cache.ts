/** Keeps bundles in a folder, each beside an entry that says what it was made from, and deletes those of no use. */

import { hash } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Diagnostic } from '../../config/diagnostic/diagnostic.ts'
import { areUnchanged, createStampReader, type Stamps } from './freshness.ts'
import type { BuiltModule } from './module-build.ts'

export interface CacheEntry {
  readonly entry: string
  /** The exports that a CommonJS module was asked for; null for an ES module, which has the exports that it has. */
  readonly exports: readonly string[] | null
  readonly digest: string
  /** SHA-256 of the bundle in hex. */
  readonly codeHash: string
  readonly inputs: readonly string[]
  readonly stamps: Stamps
  /** Of the bundle and of its source map. */
  readonly ownStamps: Stamps
  readonly warnings: readonly Diagnostic[]
}

interface BundleCache {
  fileOf(digest: string): string
  /** The entry of a module, which may be one of an earlier process. */
  find(key: string): Promise<CacheEntry | undefined>
  put(key: string, built: BuiltModule, entry: Omit<CacheEntry, 'ownStamps'>): Promise<CacheEntry>
  /** Forgets all other entries; on disk they stay until they are swept. */
  keepOnly(keys: readonly string[]): void
  /** Deletes all bundles but those of these digests and of the entries that are known. */
  sweep(digests: Iterable<string>): Promise<void>
}

/** Raised whenever the content of an entry changes. */
const format = 3
/** An unfinished file that is older was left by a process that died; milliseconds. */
const longestWriteMs = 600_000

/** @param toolStamps of the programs that make bundles: entries that others made are not used */
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
      // An entry that is known is not swept while its files are looked at.
      if (entry) entries.set(key, entry)
      return entry
    },
    async put(key, { code, map }, written) {
      const file = fileOf(written.digest)
      // The map first, so that a bundle is never without it.
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

/** Whether a bundle can be used again: it is whole, nothing that it was made from has changed, and it has the exports. */
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
    // Nothing was bundled yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function isLeftOver(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > longestWriteMs
}
