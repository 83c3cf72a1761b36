/** Owns loading: configuration file, environment and mapping files become one configuration, or all that is wrong. */

import { basename, resolve } from 'node:path'
import type { TSchema } from 'typebox'
import { checkValue } from './check.ts'
import type { Configuration, EndpointPolicy, Loaded } from './configuration.ts'
import { type ConfigurationValue, configurationSchema } from './configuration-schema.ts'
import type { Diagnostic, Place } from './diagnostic.ts'
import { checkEndpointName } from './endpoint-name.ts'
import { createEntries, deepFreeze, type Item } from './entries.ts'
import { createFindings, type Findings } from './findings.ts'
import { type MappingFileValue, mappingFileSchema } from './mapping-schema.ts'
import { type Path, writePath } from './path.ts'
import { createReading, type Environment, type Files, ReadError, type Reading, realFiles } from './reading.ts'
import { resolveReferences } from './resolution.ts'
import { resolveSettings } from './resolved-settings.ts'
import { rules } from './rules.ts'
import { type SchemaNode, shapeValue } from './shape.ts'
import { parseSource, type Source } from './source.ts'

export interface LoadOptions {
  /** The configuration file; a relative path starts at the working directory. */
  readonly file: string
  /** The process environment; it wins over `.env` beside the file. */
  readonly env: Environment
  /** Default: the real file system. */
  readonly files?: Files
}

/** A file whose value has its schema's shape wherever `findings` has nothing against it. */
interface Checked<Value> {
  readonly source: Source
  readonly value: Value
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
  const mappings = createEntries(itemsOf(main, mappingFiles), findings)

  const errors = findings.errors()
  const digest = reading.digest()
  const watched = reading.watched()
  if (errors.length > 0 || !main) {
    return { ok: false, diagnostics: [...errors, ...findings.warnings()], watched, digest }
  }
  const settings = deepFreeze(resolveSettings(main.value, file, reading.folder))
  const warnings = findings.warnings()
  const locate = (path: Path): Place => main.source.place(path)
  const configuration: Configuration = { settings, mappings, endpoints, digest, watched, warnings, locate }
  return { ok: true, configuration: Object.freeze(configuration) }
}

async function loadMain(
  file: string,
  reading: Reading,
  findings: Findings,
): Promise<Checked<ConfigurationValue> | undefined> {
  const text = await readText(file, reading, findings, missingConfiguration)
  if (text === undefined) return undefined
  if (text.trim() === '') {
    findings.add({ severity: 'error', ...emptyConfiguration, place: startOf(file) })
    return undefined
  }
  const holdsSecrets = (path: Path) => !(path[0] === 'hooks' && path[1] === 'mappings')
  return check<ConfigurationValue>(configurationSchema, { file, text, holdsSecrets }, reading, findings)
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
  main: Checked<ConfigurationValue> | undefined,
  mainFile: string,
  reading: Reading,
  findings: Findings,
): Promise<Checked<MappingFileValue>[]> {
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
  const checked: Checked<MappingFileValue>[] = []
  for (const file of files) {
    if (file === mainFile) continue
    const text = await readText(file, reading, findings)
    if (text === undefined) continue
    const holdsSecrets = (path: Path) => path[0] === 'endpoints'
    const one = await check<MappingFileValue>(
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

async function readText(
  file: string,
  reading: Reading,
  findings: Findings,
  missing?: (file: string) => Diagnostic,
): Promise<string | undefined> {
  try {
    return await reading.readText(file)
  } catch (error) {
    const absent = error instanceof ReadError && error.code === 'FILE_NOT_FOUND' ? missing?.(file) : undefined
    findings.add(absent ?? unreadable(file, error))
    return undefined
  }
}

function unreadable(file: string, error: unknown): Diagnostic {
  if (!(error instanceof ReadError)) throw error
  const hint = error.code === 'FILE_NOT_TEXT' ? 'Save it as UTF-8.' : undefined
  const message = `${basename(file)} ${error.message}`
  return { severity: 'error', code: error.code, message, place: startOf(file), ...(hint && { hint }) }
}

function startOf(file: string): Place {
  return { file, line: 1, column: 1, text: '' }
}

/** Parses, resolves references, fills defaults and checks; undefined when there is no value to go on with. */
async function check<Value>(
  schema: TSchema,
  { file, text, holdsSecrets }: { file: string; text: string; holdsSecrets(path: Path): boolean },
  reading: Reading,
  findings: Findings,
): Promise<Checked<Value> | undefined> {
  const parsed = parseSource({ file, name: reading.nameOf(file), text, holdsSecrets })
  if ('problems' in parsed) {
    findings.add(...parsed.problems)
    return undefined
  }
  const { source } = parsed
  const root = source.value ?? {}
  if (typeof root !== 'object' || Array.isArray(root)) {
    const hint = Array.isArray(root) ? 'Put the list under `mappings:`.' : 'Write `key: value` lines.'
    findings.report(source, {
      path: [],
      code: 'INVALID_VALUE',
      message: 'The file must be a map of keys',
      hint,
    })
    return undefined
  }
  try {
    const { value, pending } = shapeValue(root, schema as SchemaNode)
    await resolveReferences(pending, reading, (finding) => findings.report(source, finding))
    const violations = checkValue(schema, value).filter(({ path }) => findings.isSound(source, path))
    const referring = new Set(pending.map(({ path }) => writePath(path)))
    for (const violation of violations) {
      const hint = referring.has(writePath(violation.path)) ? referredHint : violation.hint
      findings.report(source, { ...violation, hint })
    }
    return { source, value: value as Value }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `The file's aliases expand to ${error.message}`
    findings.report(source, { path: [], code: 'TOO_MANY_ALIASES', message })
    return undefined
  }
}

const referredHint = 'The value comes from the reference: mend the variable or the file that it names.'

function applyRules({ source, value }: Checked<ConfigurationValue>, findings: Findings): void {
  for (const rule of rules) {
    // One after the other: what a rule finds can spare those that read the same.
    if (!findings.isSound(source, ...rule.reads)) continue
    for (const finding of [...rule.check(value)]) findings.report(source, finding)
  }
}

/** The configuration's own entries first, then the files' in their order. */
function* itemsIn(source: Source, list: unknown, path: Path): Iterable<Item> {
  if (!Array.isArray(list)) return
  for (const [index, value] of list.entries())
    yield { value, source, path: [...path, index], position: index + 1 }
}

function itemsOf(
  main: Checked<ConfigurationValue> | undefined,
  files: readonly Checked<MappingFileValue>[],
): Item[] {
  const own = main ? [...itemsIn(main.source, main.value.hooks?.mappings, ['hooks', 'mappings'])] : []
  return own.concat(files.flatMap(({ source, value }) => [...itemsIn(source, value.mappings, ['mappings'])]))
}

/** The configuration's policy wins over a file's, key by key; two files cannot speak about one endpoint. */
function mergeEndpoints(
  main: Checked<ConfigurationValue> | undefined,
  files: readonly Checked<MappingFileValue>[],
  findings: Findings,
): Configuration['endpoints'] {
  const merged: Record<string, EndpointPolicy> = Object.create(null)
  const owners = new Map<string, Source>()
  for (const { source, value } of files) {
    for (const [name, policy] of policiesIn(source, value.endpoints, ['endpoints'], findings)) {
      const owner = owners.get(name)
      if (owner) {
        const { line, column } = owner.place(['endpoints', name], 'key')
        const message = `\`${writePath(['endpoints', name])}\` is already named at ${owner.name}:${line}:${column}`
        const hint = 'Keep the policy of one endpoint in one file, or in the configuration, which wins.'
        findings.report(source, {
          path: ['endpoints', name],
          at: 'key',
          code: 'DUPLICATE_ENDPOINT',
          message,
          hint,
        })
      } else owners.set(name, source)
      merged[name] = policy
    }
  }
  if (main) {
    const path = ['hooks', 'endpoints']
    for (const [name, policy] of policiesIn(main.source, main.value.hooks?.endpoints, path, findings)) {
      merged[name] = { ...merged[name], ...policy }
    }
  }
  return deepFreeze(merged)
}

function* policiesIn(
  source: Source,
  policies: unknown,
  path: Path,
  findings: Findings,
): Iterable<[string, EndpointPolicy]> {
  if (!findings.isSound(source, path) || typeof policies !== 'object' || policies === null) return
  for (const [name, policy] of Object.entries(policies)) {
    const finding = checkEndpointName(name, [...path, name], 'key')
    if (finding) findings.report(source, finding)
    yield [name, { ...policy }]
  }
}
