/** Owns what is remembered of a module's bundle, beside it on disk: enough to know, without bundling, that it still holds. */

import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Diagnostic } from '../../config/diagnostic/diagnostic.ts'
import type { Places } from './outcome.ts'

export interface BundleRecord {
  /** Of everything but sources that decides what a bundle is: versions of the bundler and of ours. */
  readonly options: string
  readonly entry: string
  /** What a CommonJS module was asked for; null: it is none, and has the exports that it has. */
  readonly exports: readonly string[] | null
  readonly digest: string
  /** SHA-256 of the bundle and of its source map. */
  readonly codeHash: string
  readonly mapHash: string
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>
  readonly places: Places
  readonly warnings: readonly Diagnostic[]
}

/** Undefined where there is none, or none that can be read: then the module is bundled. */
export async function readRecord(file: string): Promise<BundleRecord | undefined> {
  try {
    const { check, record } = JSON.parse(await readFile(file, 'utf8'))
    return check === recordShape ? record : undefined
  } catch {
    return undefined
  }
}

/** Raised whenever what a record holds changes. */
const recordShape = 1

export async function writeRecord(file: string, record: BundleRecord): Promise<void> {
  await replaceFile(file, JSON.stringify({ check: recordShape, record }))
}

/** A reader sees the old file or the new one. */
async function replaceFile(file: string, content: string): Promise<void> {
  const next = path.join(path.dirname(file), `${randomUUID()}.next`)
  try {
    await writeFile(next, content, { mode: 0o600 })
    await rename(next, file)
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
}
