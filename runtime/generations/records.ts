/** Formats the records of generations for the disk, and parses them again with a check of their types. */

import type { Bundle, GenerationContent, GenerationRecord, Rollback } from '@reveille/engine'
import type { Layout } from './layout.ts'
import type { NumberedRecord } from './state.ts'

/** The content of `index.json`. */
export interface IndexFile {
  readonly highest: number
  readonly rollback?: Rollback
}

/** A source file of a generation. */
export interface CopiedFile {
  /** The path as {@link Layout.toWritten} makes it relative to the configuration. */
  readonly path: string
  /** The hash of the copy's bytes, in hex. */
  readonly sha256: string
}

/** The content of `<generation>/record.json`. */
export interface RecordFile {
  readonly record: NumberedRecord
  readonly files: readonly CopiedFile[]
  /** The bundles, with their files relative to the data folder. */
  readonly bundles: readonly Bundle[]
}

export function format(content: IndexFile | RecordFile | GenerationRecord): string {
  return `${JSON.stringify(content, null, 1)}\n`
}

export function bundlesToWrite({ bundles }: GenerationContent, layout: Layout): readonly Bundle[] {
  return [...bundles.values()].map((bundle) => ({ ...bundle, file: layout.toWritten(bundle.file, 'data') }))
}

/** @throws SyntaxError for a text of another form */
export function parseIndex(text: string): IndexFile {
  const { highest, rollback } = parseMap(text)
  if (!isNumber(highest)) throw new SyntaxError('it has no highest number')
  if (rollback === undefined) return { highest }
  const { generation, filesDigest } = asMap(rollback)
  if (!isNumber(generation) || typeof filesDigest !== 'string') throw new SyntaxError('its rollback is none')
  return { highest, rollback: { generation, filesDigest } }
}

/** @throws SyntaxError for a text of another form */
export function parseRecord(text: string, generation: number): RecordFile {
  const { record, files, bundles } = parseMap(text)
  const kept = asRecord(record)
  if (kept.generation !== generation || typeof kept.digest !== 'string') {
    throw new SyntaxError('it is the record of another generation')
  }
  const areFiles = Array.isArray(files) && files.every(({ path, sha256 }) => areTexts(path, sha256))
  const areBundles =
    Array.isArray(bundles) &&
    bundles.every(({ module, digest, file, codeHash = '' }) => areTexts(module, digest, file, codeHash))
  if (!areFiles || !areBundles) throw new SyntaxError('its lists of files are none')
  return { record: kept as NumberedRecord, files, bundles }
}

/** @throws SyntaxError for a text of another form */
export function parseRefused(text: string): GenerationRecord {
  const { generation: _, ...record } = asRecord(parseMap(text))
  return { ...record, state: 'rejected' }
}

function asRecord(value: unknown): GenerationRecord {
  const { at, tookMs, changes, diagnostics } = asMap(value)
  if (typeof at !== 'number' || typeof tookMs !== 'number') throw new SyntaxError('its times are none')
  const { mappings, endpoints, transforms, settings, restart } = asMap(changes)
  const areDifferences = [mappings, endpoints, transforms].every((each) => {
    const { added, changed, removed } = asMap(each)
    return [added, changed, removed].every(Array.isArray)
  })
  if (!areDifferences || !Array.isArray(settings) || !Array.isArray(restart)) {
    throw new SyntaxError('its changes are none')
  }
  if (!Array.isArray(diagnostics)) throw new SyntaxError('its diagnostics are none')
  return value as GenerationRecord
}

function parseMap(text: string): Readonly<Record<string, unknown>> {
  return asMap(JSON.parse(text))
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  throw new SyntaxError('it lacks what belongs there')
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}
