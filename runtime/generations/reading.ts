/** Reads the folder of generations when it is opened, and the files of a generation that is served again. */

import { webcrypto } from 'node:crypto'
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GenerationContent, keptGenerations } from '@reveille/engine'
import type { Layout } from './layout.ts'
import { parseIndex, parseRecord, parseRefused, type RecordFile } from './records.ts'
import { type ArchiveState, emptyState, type KeptGeneration, type RefusedCandidate } from './state.ts'

export interface ArchiveOnDisk {
  readonly state: ArchiveState
  /** Every complete generation, also those that the state leaves out. */
  readonly kept: readonly KeptGeneration[]
  readonly refused: readonly RefusedCandidate[]
  /** Files that cannot be used, with the reason; they are left where they are. */
  readonly damaged: readonly string[]
}

/** Reads the state, and writes nothing. */
export async function readState(layout: Layout): Promise<ArchiveOnDisk> {
  const damaged: string[] = []
  const folders = await numbersIn(layout.folder, /^(\d+)$/)
  const kept: KeptGeneration[] = []
  for (const generation of folders) {
    const file = await attempt(layout.recordFile(generation), (text) => parseRecord(text, generation))
    if (file) kept.push({ record: file.record, bundles: file.bundles.map(({ digest }) => digest) })
  }
  kept.sort((one, other) => other.record.at - one.record.at)
  const refused: RefusedCandidate[] = []
  for (const number of await numbersIn(layout.refusedFolder, /^(\d+)\.json$/)) {
    const record = await attempt(layout.refusedFile(number), parseRefused)
    if (record) refused.unshift({ number, record })
  }
  const index = await attempt(layout.indexFile, parseIndex, folders.length > 0)
  return {
    state: {
      ...emptyState,
      highest: Math.max(index?.highest ?? 0, ...folders),
      kept: kept.slice(0, keptGenerations),
      refused: refused.slice(0, keptGenerations),
      rollback: index?.rollback,
    },
    kept,
    refused,
    damaged,
  }

  async function attempt<Parsed>(
    file: string,
    parse: (text: string) => Parsed,
    mustExist = true,
  ): Promise<Parsed | undefined> {
    try {
      return parse(await readFile(file, 'utf8'))
    } catch (error) {
      if (mustExist || !isAbsent(error)) damaged.push(`${file}: ${reasonOf(error)}`)
      return undefined
    }
  }

  /** The numbers in file names, ascending. */
  async function numbersIn(folder: string, pattern: RegExp): Promise<number[]> {
    try {
      const names = await readdir(folder)
      const numbers = names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number)
      return numbers.filter(Number.isSafeInteger).sort((one, other) => one - other)
    } catch (error) {
      if (!isAbsent(error)) damaged.push(`${folder}: ${reasonOf(error)}`)
      return []
    }
  }
}

/** @throws Error when a file is missing or altered */
export async function readContent(
  layout: Layout,
  generation: number,
  configFile: string,
): Promise<GenerationContent> {
  const { record, files, bundles } = await readRecord(layout, generation)
  const sources = new Map<string, string>()
  for (const { path: written, sha256 } of files) {
    const path = layout.fromWritten(written, 'configuration')
    const bytes = await readFile(join(layout.generationFolder(generation), layout.copyName(path)))
    if ((await hashOf(bytes)) !== sha256) throw new DamageError(`${written} is not what it was`)
    sources.set(path, bytes.toString())
  }
  // Without it today's file would be read in its place.
  if (!sources.has(configFile)) throw new DamageError(`it was made from another file than ${configFile}`)
  const restored = bundles.map((bundle) => ({ ...bundle, file: layout.fromWritten(bundle.file, 'data') }))
  for (const { module, file, codeHash } of restored) {
    if (codeHash === undefined) await access(file)
    else if ((await hashOf(await readFile(file))) !== codeHash)
      throw new DamageError(`the bundle of ${module} is not what it was`)
  }
  return {
    digest: record.digest,
    sources,
    bundles: new Map(restored.map((bundle) => [bundle.module, bundle])),
  }
}

/** Hashes in another thread, since a file may be long. */
export async function hashOf(bytes: Buffer<ArrayBuffer>): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** @throws Error */
export async function readRecord(layout: Layout, generation: number): Promise<RecordFile> {
  return parseRecord(await readFile(layout.recordFile(generation), 'utf8'), generation)
}

export function isAbsent(error: unknown): boolean {
  return isOfDisk(error) && error.code === 'ENOENT'
}

export function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

/** Reason why a file cannot be used. A syntax error of JSON is not repeated, because it quotes the text. */
export function reasonOf(error: unknown): string {
  if (error instanceof DamageError) return error.message
  return isOfDisk(error) ? String(error.code) : 'it is not what a gateway writes there'
}

/** The message is a clause that follows the name of a folder. */
class DamageError extends Error {}
