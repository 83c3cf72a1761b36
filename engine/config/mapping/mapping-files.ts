/** Owns reading the files of `mappingsDir`, but for those that are the schema or the body of another. */

import { resolve } from 'node:path'
import type { Findings } from '../diagnostic/findings.ts'
import { type CheckedFile, checkSource, readText, startOf } from '../file/checked-file.ts'
import { namedFile } from '../file/named-file.ts'
import { ReadError, type Reading } from '../file/reading.ts'
import { type Parsed, parseSource, type Source } from '../file/source.ts'
import type { Path } from '../path.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { type MappingFileValue, mappingFileSchema } from '../schema/mapping-schema.ts'

const key = ['hooks', 'mappingsDir']

/** In the order of their relative paths. */
export async function loadMappingFiles(
  main: CheckedFile<ConfigurationValue> | undefined,
  mainFile: string,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<MappingFileValue>[]> {
  if (!main || !findings.isSound(main.source, key)) return []
  const parsed: ParsedFile[] = []
  for (const file of await listFiles(main, reading, findings)) {
    const text = file === mainFile ? undefined : await readText(file, reading, findings)
    if (text === undefined) continue
    const holdsSecrets = (path: Path) => path[0] === 'endpoints'
    parsed.push({ file, text, ...parseSource({ file, name: reading.nameOf(file), text, holdsSecrets }) })
  }
  const named = new Set(namesIn(main.source, main.source.value, parsed))
  const checked: CheckedFile<MappingFileValue>[] = []
  for (const one of parsed) {
    if (named.has(one.file) && !isMappingFile(one)) continue
    if (one.text.trim() === '') {
      findings.add({ severity: 'warning', ...emptyMappingFile, place: startOf(one.file) })
    }
    if ('problems' in one) findings.add(...one.problems)
    else {
      const good = await checkSource<MappingFileValue>(mappingFileSchema, one.source, reading, findings)
      if (good) checked.push(good)
    }
  }
  return checked
}

type ParsedFile = Parsed & { readonly file: string; readonly text: string }

const emptyMappingFile = {
  code: 'FILE_EMPTY',
  message: 'The mapping file is empty',
  hint: 'It may hold `endpoints:`, `mappings:` and `tests:`.',
}

async function listFiles(
  main: CheckedFile<ConfigurationValue>,
  reading: Reading,
  findings: Findings,
): Promise<string[]> {
  const folder = resolve(reading.folder, main.value.hooks.mappingsDir)
  reading.watch(folder)
  try {
    return await reading.listMappings(folder)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    // Only the default folder may be missing: one that was named and is gone is a mistake, or a checkout under way.
    if (error.code !== 'FILE_NOT_FOUND' || isWritten(main.source)) {
      const message = `The folder of mapping files, ${folder}, ${error.message}`
      const hint = 'Relative paths start at the configuration.'
      findings.report(main.source, { path: key, code: error.code, message, hint })
    }
    return []
  }
}

function isWritten(source: Source): boolean {
  return (at(source.value, ...key) ?? null) !== null
}

/** The files that mappings and tests name, absolute; asked before anything is checked. */
function* namesIn(main: Source, value: unknown, files: readonly ParsedFile[]): Iterable<string> {
  yield* namesInLists(main, at(value, 'hooks', 'mappings'), undefined)
  for (const one of files) {
    if ('source' in one)
      yield* namesInLists(one.source, at(one.source.value, 'mappings'), at(one.source.value, 'tests'))
  }
}

function* namesInLists(source: Source, mappings: unknown, tests: unknown): Iterable<string> {
  const names = [
    ...listOf(mappings).map((mapping) => at(mapping, 'schema')),
    ...listOf(tests).map((one) => at(one, 'request', 'bodyFile')),
  ]
  for (const name of names) if (typeof name === 'string') yield namedFile(source, name)
}

/** Whoever names a file of mappings by mistake is told so, instead of losing them without a word. */
function isMappingFile(file: ParsedFile): boolean {
  return 'source' in file && Array.isArray(at(file.source.value, 'mappings'))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((holder, name) => {
    const isMap = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
    return isMap ? (holder as Record<string, unknown>)[name] : undefined
  }, value)
}
