/** Owns the folder of bundles: what lies there, under which name, and what of it is still of use. */

import { readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { hashText, isAbsent } from './file-hash.ts'
import type { BundledModule } from './outcome.ts'
import { type BundleRecord, readRecord, writeRecord } from './record.ts'

export interface Shelf {
  /** The bundle of a digest, whether or not it is there. */
  fileOf(digest: string): string
  /** What is known of a module, from an earlier process too. */
  recordOf(key: string): Promise<BundleRecord | undefined>
  put(key: string, record: BundleRecord, written: Pick<BundledModule, 'code' | 'map'>): Promise<void>
  /** Forgets all others; on disk they stay until they are swept. */
  keepRecords(keys: readonly string[]): void
  /** Deletes all but these digests and those of the modules that were asked for last. */
  sweep(keep: Iterable<string>): Promise<void>
}

/** A half-done file that is older was left by a process that ended; milliseconds. */
const longestWriteMs = 600_000

export function createShelf(folder: string, now: () => number = Date.now): Shelf {
  const records = new Map<string, BundleRecord>()

  const fileOf = (digest: string) => path.join(folder, `${digest}.mjs`)
  const recordName = (key: string) => `${hashText(key).slice(0, 32)}.json`

  async function isLeftOver(name: string): Promise<boolean> {
    try {
      return now() - (await stat(path.join(folder, name))).mtimeMs > longestWriteMs
    } catch (error) {
      if (isAbsent(error)) return false
      throw error
    }
  }

  return {
    fileOf,
    async recordOf(key) {
      const known = records.get(key) ?? (await readRecord(path.join(folder, recordName(key))))
      // Known before its files are looked at, so that no sweep takes them away in between.
      if (known) records.set(key, known)
      return known
    },
    async put(key, record, { code, map }) {
      records.set(key, record)
      const file = fileOf(record.digest)
      // The map first: whoever finds the bundle finds both.
      await rename(map.file, `${file}.map`)
      await rename(code.file, file)
      await writeRecord(path.join(folder, recordName(key)), record)
    },
    keepRecords(keys) {
      const kept = new Set(keys)
      for (const key of records.keys()) if (!kept.has(key)) records.delete(key)
    },
    async sweep(keep) {
      const digests = new Set([...keep, ...[...records.values()].map(({ digest }) => digest)])
      const names = new Set([...records.keys()].map(recordName))
      for (const name of await namesIn(folder)) {
        const [digest] = /^[0-9a-f]{64}(?=\.mjs(?:\.map)?$)/.exec(name) ?? []
        const isUseless =
          digest !== undefined
            ? !digests.has(digest)
            : /^[0-9a-f]{32}\.json$/.test(name)
              ? !names.has(name)
              : /\.next(?:\.map)?$/.test(name) && (await isLeftOver(name))
        if (isUseless) await rm(path.join(folder, name), { force: true })
      }
    },
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}
