/** Owns loading: configuration file, environment and mapping files become one configuration, or all that is wrong. */

import { resolve } from 'node:path'
import { type CheckedFile, checkFile, readText, startOf, unreadable } from './checked-file.ts'
import type { Configuration, Loaded, Origin } from './configuration.ts'
import { type ConfigurationValue, configurationSchema } from './configuration-schema.ts'
import type { Diagnostic, Place } from './diagnostic.ts'
import { mergeEndpoints } from './endpoint-policies.ts'
import { createEntries, deepFreeze, type Item } from './entries.ts'
import { createFindings, type Findings } from './findings.ts'
import { type MappingFileValue, mappingFileSchema } from './mapping-schema.ts'
import type { Path } from './path.ts'
import { createPayloadSchemas } from './payload-schema.ts'
import { createReading, type Environment, type Files, ReadError, type Reading, realFiles } from './reading.ts'
import { resolveSettings } from './resolved-settings.ts'
import { rules } from './rules.ts'
import type { Source } from './source.ts'

export interface LoadOptions {
  /** The configuration file; a relative path starts at the working directory. */
  readonly file: string
  /** The process environment; it wins over `.env` beside the file. */
  readonly env: Environment
  /** Default: the real file system. */
  readonly files?: Files
}

/** Never rejects for what an operator can write: everything wrong is a diagnostic, and all of it is told at once. */
export async function loadConfiguration(options: LoadOptions): Promise<Loaded> {
  const file = resolve(options.file)
  const reading = createReading(file, options.env, options.files ?? realFiles)
  const findings = createFindings()
  try {
    await reading.readEnvironment()
  } catch (error) {
    findings.add(unreadable(resolve(reading.folder, '.env'), error))
  }
  const main = await loadMain(file, reading, findings)
  if (main) applyRules(main, findings)
  const mappingFiles = await loadMappingFiles(main, file, reading, findings)
  const endpoints = mergeEndpoints(main, mappingFiles, findings)
  const schemas = createPayloadSchemas(reading, findings)
  const { mappings, disabled } = await createEntries(itemsOf(main, mappingFiles), schemas, findings)

  const errors = findings.errors()
  const digest = reading.digest()
  const watched = reading.watched()
  if (errors.length > 0 || !main) {
    return { ok: false, diagnostics: [...errors, ...findings.warnings()], watched, digest }
  }
  const settings = deepFreeze(resolveSettings(main.value, file, reading.folder))
  const warnings = findings.warnings()
  const locate = (path: Path): Place => main.source.place(path)
  const configuration: Configuration = {
    settings,
    mappings,
    disabled,
    tests: [],
    endpoints,
    digest,
    watched,
    warnings,
    locate,
  }
  return { ok: true, configuration: Object.freeze(configuration) }
}

async function loadMain(
  file: string,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<ConfigurationValue> | undefined> {
  const text = await readText(file, reading, findings, missingConfiguration)
  if (text === undefined) return undefined
  if (text.trim() === '') {
    findings.add({ severity: 'error', ...emptyConfiguration, place: startOf(file) })
    return undefined
  }
  const holdsSecrets = (path: Path) => !(path[0] === 'hooks' && path[1] === 'mappings')
  return checkFile<ConfigurationValue>(configurationSchema, { file, text, holdsSecrets }, reading, findings)
}

const emptyConfiguration = {
  code: 'FILE_EMPTY',
  message: 'The configuration file is empty',
  hint: 'If an editor is still writing it, the next save is loaded by itself.',
}

function missingConfiguration(file: string): Diagnostic {
  return {
    severity: 'error',
    code: 'CONFIGURATION_NOT_FOUND',
    message: `There is no configuration at ${file}`,
    place: startOf(file),
    hint: 'Make one with `reveille init`, or name another with `--config FILE`.',
  }
}

async function loadMappingFiles(
  main: CheckedFile<ConfigurationValue> | undefined,
  mainFile: string,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<MappingFileValue>[]> {
  const key = ['hooks', 'mappingsDir']
  if (!main || !findings.isSound(main.source, key)) return []
  const folder = resolve(reading.folder, main.value.hooks.mappingsDir)
  reading.watch(folder)
  let files: string[] = []
  try {
    files = await reading.listMappings(folder)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    // Only the default folder may be missing: one that was named and is gone is a mistake, or a checkout under way.
    if (error.code !== 'FILE_NOT_FOUND' || isWritten(main.source, key)) {
      const message = `The folder of mapping files, ${folder}, ${error.message}`
      findings.report(main.source, {
        path: key,
        code: error.code,
        message,
        hint: 'Relative paths start at the configuration.',
      })
    }
  }
  const checked: CheckedFile<MappingFileValue>[] = []
  for (const file of files) {
    if (file === mainFile) continue
    const text = await readText(file, reading, findings)
    if (text === undefined) continue
    const holdsSecrets = (path: Path) => path[0] === 'endpoints'
    const one = await checkFile<MappingFileValue>(
      mappingFileSchema,
      { file, text, holdsSecrets },
      reading,
      findings,
    )
    if (one) checked.push(one)
    if (text.trim() === '') findings.add({ severity: 'warning', ...emptyMappingFile, place: startOf(file) })
  }
  return checked
}

const emptyMappingFile = {
  code: 'FILE_EMPTY',
  message: 'The mapping file is empty',
  hint: 'It may hold `endpoints:`, `mappings:` and `tests:`.',
}

function isWritten(source: Source, path: Path): boolean {
  let value: unknown = source.value
  for (const key of path) value = (value as Record<string, unknown> | null)?.[key]
  return value !== undefined && value !== null
}

function applyRules({ source, value }: CheckedFile<ConfigurationValue>, findings: Findings): void {
  for (const rule of rules) {
    // One after the other: what a rule finds can spare those that read the same.
    if (!findings.isSound(source, ...rule.reads)) continue
    for (const finding of [...rule.check(value)]) findings.report(source, finding)
  }
}

/** The configuration's own entries first, then the files' in their order. */
function* itemsIn(source: Source, kind: Origin['kind'], list: unknown, path: Path): Iterable<Item> {
  if (!Array.isArray(list)) return
  const origin = { kind, name: source.name }
  for (const [index, value] of list.entries())
    yield { value, source, path: [...path, index], position: index + 1, origin }
}

function itemsOf(
  main: CheckedFile<ConfigurationValue> | undefined,
  files: readonly CheckedFile<MappingFileValue>[],
): Item[] {
  const own = main
    ? [...itemsIn(main.source, 'configuration', main.value.hooks?.mappings, ['hooks', 'mappings'])]
    : []
  return own.concat(
    files.flatMap(({ source, value }) => [...itemsIn(source, 'file', value.mappings, ['mappings'])]),
  )
}
