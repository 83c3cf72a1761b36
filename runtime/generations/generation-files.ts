/** Reads and writes the folder of generations: `<number>.json` for each, and `index.json`. */

import { hash } from 'node:crypto'
import { access, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Bundle, GenerationContent, GenerationRecord, Rollback } from '@reveille/engine'
import { writeWhole } from '../write-whole.ts'

/** A record with its number. Its `state` was set when it was made. */
export type NumberedRecord = GenerationRecord & { readonly generation: number; readonly digest: string }

/** A generation that went live. */
export interface KeptGeneration {
  readonly record: NumberedRecord
  /** The digests of its bundles. */
  readonly bundles: readonly string[]
  /** Undefined when it is on the disk. */
  content: GenerationContent | undefined
}

export interface ArchiveIndex {
  /** The highest generation number that was ever assigned. */
  readonly highest: number
  readonly rollback?: Rollback | undefined
  /** Candidates that were refused, newest first. */
  readonly refused: readonly GenerationRecord[]
}

/** Paths are relative to the configuration's folder if they are below it; those of bundles, to the data folder. */
interface GenerationFile {
  readonly record: NumberedRecord
  readonly sources: readonly (readonly [path: string, text: string])[]
  readonly bundles: readonly Bundle[]
}

export type GenerationFiles = ReturnType<typeof createGenerationFiles>

/** `folder`: `generations` in the data folder. Both paths are absolute. */
export function createGenerationFiles(folder: string, configFile: string) {
  const dataFolder = dirname(folder)
  const configFolder = dirname(configFile)
  const indexFile = join(folder, 'index.json')
  const fileOf = (generation: number) => join(folder, `${generation}.json`)
  /** A crash leaves at most this one, and the next write replaces it. */
  const write = (file: string, content: ArchiveIndex | GenerationFile) =>
    writeWhole(file, checkedText(JSON.stringify(content)), join(folder, '.draft'))

  return {
    /** `damaged`: files that cannot be used, with the reason; they are left where they are. */
    async readAll() {
      const damaged: string[] = []
      const attempt = <Kind>(file: string) =>
        readChecked<Kind>(file).catch((error: unknown) => {
          damaged.push(`${file}: ${reasonOf(error)}`)
        })
      const names = await readdir(folder).catch((error: unknown) => {
        if (!isAbsent(error)) damaged.push(`${folder}: ${reasonOf(error)}`)
        return []
      })
      const numbers = names.flatMap((name) => /^(\d{1,15})\.json$/.exec(name)?.[1] ?? []).map(Number)
      const kept: KeptGeneration[] = []
      for (const number of numbers) {
        const file = await attempt<GenerationFile>(fileOf(number))
        if (file) kept.push({ record: file.record, bundles: digestsOf(file.bundles), content: undefined })
      }
      const index = names.length > 0 ? await attempt<ArchiveIndex>(indexFile) : undefined
      const highest = Math.max(index?.highest ?? 0, ...numbers)
      const { rollback, refused = [] } = index ?? {}
      return { index: { highest, rollback, refused }, kept, damaged }
    },

    /** @throws Error when a file is missing or altered */
    async readContent(generation: number): Promise<GenerationContent> {
      const { record, ...file } = await readChecked<GenerationFile>(fileOf(generation))
      const sources = new Map(file.sources.map(([path, text]) => [resolve(configFolder, path), text]))
      // Without it today's file would be read in its place.
      if (!sources.has(configFile)) throw new DamageError(`it was made from another file than ${configFile}`)
      const bundles = file.bundles.map((bundle) => ({ ...bundle, file: resolve(dataFolder, bundle.file) }))
      for (const { module, file, codeHash } of bundles) {
        if (codeHash === undefined) await access(file)
        else if (hash('sha256', await readFile(file)) !== codeHash)
          throw new DamageError(`the bundle of ${module} is not what it was`)
      }
      return { digest: record.digest, sources, bundles: new Map(bundles.map((each) => [each.module, each])) }
    },

    /** @throws Error of the disk */
    async writeGeneration(record: NumberedRecord, { sources, bundles }: GenerationContent): Promise<void> {
      await write(fileOf(record.generation), {
        record,
        sources: [...sources].map(([path, text]) => [pathBelow(configFolder, path), text]),
        bundles: [...bundles.values()].map((each) => ({ ...each, file: pathBelow(dataFolder, each.file) })),
      })
    },
    writeIndex: (index: ArchiveIndex): Promise<void> => write(indexFile, index),
    makeFolder: () => mkdir(folder, { recursive: true, mode: 0o700 }),
    remove: (generation: number): Promise<void> => rm(fileOf(generation), { force: true }),
    /** Names the file, and the reason why it cannot be used. */
    damageOf: (generation: number, error: unknown): string => `${fileOf(generation)}: ${reasonOf(error)}`,
  }
}

export function digestsOf(bundles: Iterable<Bundle>): readonly string[] {
  return [...bundles].map(({ digest }) => digest)
}

/** An error of the disk may pass; a file that is missing or altered is lost. */
export function isLost(error: unknown): boolean {
  return isAbsent(error) || !isOfDisk(error)
}

function isAbsent(error: unknown): boolean {
  return isOfDisk(error) && error.code === 'ENOENT'
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

function reasonOf(error: unknown): string {
  if (error instanceof DamageError) return error.message
  return isOfDisk(error) ? String(error.code) : 'it is not what a gateway writes there'
}

/** Relative paths let both folders be moved. */
function pathBelow(folder: string, path: string): string {
  const name = relative(folder, path)
  return name.startsWith('..') || isAbsolute(name) ? path : name
}

/** The text of a file whose content is this JSON. */
function checkedText(json: string): string {
  return `{"sha256":"${hash('sha256', json)}","content":${json}}\n`
}

const contentBegins = checkedText('').indexOf('}')

/** @throws Error of the disk, or DamageError for a text that is not as it was written; so its type is not checked */
async function readChecked<Content>(file: string): Promise<Content> {
  const text = await readFile(file, 'utf8')
  const json = text.slice(contentBegins, -'}\n'.length)
  if (text !== checkedText(json)) throw new DamageError('it is not what a gateway writes there')
  return JSON.parse(json) as Content
}

/** The message is a clause that follows the name of a file. */
class DamageError extends Error {}
