/** Loads the configuration file, the environment and the mapping files, and returns one configuration or all mistakes. */

import { resolve } from 'node:path'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, Loaded } from './configuration.ts'
import { createEntries, type Entries } from './entries.ts'
import type { Place } from './file/diagnostic.ts'
import { createDiagnostics, type Diagnostics } from './file/diagnostics.ts'
import { type Environment, type Files, LoadContext, realFiles } from './file/load-context.ts'
import type { TextParser } from './file/parse-text.ts'
import { createThreadParser, parserInPlace } from './file/parser.ts'
import { startOf } from './file/places.ts'
import { withoutSecrets } from './file/without-secrets.ts'
import { hookPart, type Item } from './items.ts'
import { loadMappingFiles } from './mapping-files.ts'
import { loadPresets } from './presets.ts'
import { rules, unusedEndpoints, unusedModules } from './rules/configuration-rules.ts'
import { mergeEndpoints } from './rules/endpoint-policies.ts'
import { checkPolicies } from './rules/policy-rules.ts'
import { type CheckedFile, checkFile, readText, unreadable } from './schema/checked-file.ts'
import { type ConfigurationValue, configurationSchema } from './schema/configuration-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import { resolveSettings } from './settings.ts'
import { createTests } from './tests.ts'
import { freezeDeep } from './values/freeze-deep.ts'
import type { Path } from './values/path.ts'
import { secretsIn } from './values/secret.ts'

export interface LoadOptions {
  /** The configuration file. A relative path is relative to the working directory. */
  readonly file: string
  /** The process environment, which takes precedence over `.env` beside the file. */
  readonly env: Environment
  /** The folder of the built-in presets, with one YAML file for each. Default: there are none. */
  readonly presets?: string
  /** Default: the real file system. */
  readonly files?: Files
  /**
   * True if a reference to a missing variable or file is only a warning, for commands that read a configuration and
   * never serve it. Default: false.
   */
  readonly allowsUnset?: boolean
}

/**
 * Loads the same configuration repeatedly. What has not changed since the last load, or since the last successful one,
 * is neither parsed nor checked again, and its results are the same objects as before.
 */
export interface Loader {
  /**
   * Loads as {@link loadConfiguration} does, but only the first call parses files in place, and later ones in a thread.
   * `files` replaces the loader's own.
   */
  load(files?: Files): Promise<Loaded>
  /** Returns the text of one of its files, of now or of an earlier generation, as it may be shown: without secrets. */
  withoutSecrets(file: string, text: string): Promise<string>
  /** Ends the thread. */
  close(): Promise<void>
}

export function createLoader(options: LoadOptions): Loader {
  const thread = createThreadParser()
  let parser: TextParser = parserInPlace
  return {
    load(files = options.files ?? realFiles) {
      const loaded = loadWith({ ...options, files }, parser)
      parser = thread
      return loaded
    },
    withoutSecrets(file, text) {
      const kind = file === resolve(options.file) ? 'configuration' : 'mappings'
      return withoutSecrets({ kind, file, text }, thread)
    },
    close: () => thread.close(),
  }
}

/**
 * Never rejects because of the content of files: every mistake becomes a diagnostic, and all are reported together.
 * Files are parsed in place.
 */
export function loadConfiguration(options: LoadOptions): Promise<Loaded> {
  return createLoader(options).load()
}

async function loadWith(options: LoadOptions, parser: TextParser): Promise<Loaded> {
  const file = resolve(options.file)
  const context = new LoadContext({ files: realFiles, ...options, file, parser })
  const diagnostics = createDiagnostics()
  const unread = await readEnvironment(context, diagnostics)
  if (unread !== undefined)
    return { ok: false, diagnostics: [unread], watched: [...context.watched], digest: context.digest() }
  const main = await loadMain(file, context, diagnostics)
  context.mainIsRead()
  if (main) applyRules(main, diagnostics)
  const files = await loadMappingFiles(main, file, context, diagnostics)
  const presets = await loadPresets(main, options.presets, context, diagnostics)
  const parts = [
    ...(main ? [hookPart('configuration', main.source, main.value.hooks, { above: ['hooks'] })] : []),
    ...files.map(({ source, value }) => hookPart('file', source, value)),
    ...presets,
  ]
  const sets = parts.map(({ policies }) => policies)
  const policies = mergeEndpoints(sets, diagnostics)
  if (main) await checkPolicies(policies, main, diagnostics)
  const { endpoints } = policies
  const { path, defaultSessionKey } = main?.value.hooks ?? {}
  const hooks = { path: String(path), hasDefaultSession: defaultSessionKey !== undefined }
  const items = parts.flatMap(({ mappings }) => mappings)
  const entries = await createEntries(items, context, diagnostics, hooks)
  const { mappings, disabled } = entries
  const cases = parts.flatMap(({ tests }) => tests.filter((test) => !isOfReplaced(test, entries)))
  const tests = await createTests(cases, context, diagnostics)
  if (main && diagnostics.errors().length === 0) reportUnused(main, entries, diagnostics)

  await yieldToEventLoop()
  const digest = context.digest()
  const watched = [...context.watched]
  const errors = diagnostics.errors()
  const warnings = diagnostics.warnings()
  const isRefused = errors.length > 0
  const refused = { ok: false, diagnostics: [...errors, ...warnings], watched, digest } as const
  if (!main || (isRefused && !areSettingsSound(main, diagnostics))) return refused
  const settings = freezeDeep(resolveSettings(main.value, file, (path) => context.resolvePath(path)))
  // For an indented block, returns the place of its key, because the first line below the key concerns something else.
  const locate = (path: Path): Place => {
    const [key, value] = [main.source.place(path, 'key'), main.source.place(path)]
    return key.line < value.line ? key : value
  }
  const configuration: Configuration = {
    settings,
    value: main.value,
    mappings: isRefused ? mappings.filter(({ value }) => value.transform === undefined) : mappings,
    disabled,
    tests: isRefused ? [] : tests,
    endpoints,
    digest,
    sharedDigest: context.digest(sharedValue(main.value)),
    sources: context.sources(),
    secrets: secretsIn(
      [settings, endpoints, entries.mappings.map(({ parameters }) => parameters)],
      context.referenced,
    ),
    watched,
    warnings,
    unset: [...context.unset].sort(),
    locate,
  }
  Object.freeze(configuration)
  return isRefused ? { ...refused, rest: configuration } : { ok: true, configuration }
}

/** Returns why `.env` cannot be read: without its variables, every reference to one would be reported too, with useless advice. */
async function readEnvironment(context: LoadContext, diagnostics: Diagnostics) {
  const place = startOf(resolve(context.folder, '.env'))
  try {
    for (const { line, ...fault } of await context.readEnvironment())
      diagnostics.add({ severity: 'warning', ...fault, place: { ...place, line } })
    return undefined
  } catch (error) {
    return unreadable(place.file, error)
  }
}

/** True if all mistakes are in mappings and tests. */
function areSettingsSound(
  { source, value }: CheckedFile<ConfigurationValue>,
  diagnostics: Diagnostics,
): boolean {
  const { hooks, ...others } = value
  const ofHooks = Object.keys(hooks).filter((key) => key !== 'mappings')
  const paths = [...Object.keys(others).map((key) => [key]), ...ofHooks.map((key) => ['hooks', key])]
  return diagnostics.isSound(source, ...paths)
}

async function loadMain(
  file: string,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<CheckedFile<ConfigurationValue> | undefined> {
  const refused = { severity: 'error', place: startOf(file) } as const
  const text = await readText(file, context, diagnostics, {
    ...refused,
    code: 'CONFIGURATION_NOT_FOUND',
    message: `There is no configuration at ${file}`,
    hint: 'Make one with `reveille init`, or name another with `--config FILE`.',
  })
  if (text === undefined) return undefined
  if (text.trim() === '') {
    const hint = 'If an editor is still writing it, the next save is loaded by itself.'
    diagnostics.add({ ...refused, code: 'FILE_EMPTY', message: 'The configuration file is empty', hint })
    return undefined
  }
  return checkFile(configurationSchema, { kind: 'configuration', file, text }, context, diagnostics)
}

function applyRules({ source, value }: CheckedFile<ConfigurationValue>, diagnostics: Diagnostics): void {
  for (const [reads, check] of rules)
    if (diagnostics.isSound(source, ...reads.map((key) => key.split('.'))))
      diagnostics.report(source, check(value))
}

/** The value of the main file without what each node has for itself and no request is decided by. */
function sharedValue({ gateway, hooks, ...others }: ConfigurationValue): unknown {
  const { host: _host, port: _port, dataDir: _dataDir, store: _store, log: _log, ...ofGateway } = gateway
  const { poll: _poll, ...reload } = hooks.reload
  return { ...others, gateway: ofGateway, hooks: { ...hooks, reload } }
}

/** A preset's test of a mapping that the operator replaced would only show the difference. */
function isOfReplaced({ origin, value }: Item<TestValue>, { replaced }: Entries): boolean {
  const ids = origin.kind === 'preset' ? replaced.get(origin.name) : undefined
  if (ids === undefined) return false
  return [value.expect, ...(value.expect.actions ?? [])].some(({ mapping = '' }) => ids.has(mapping))
}

function reportUnused(
  { source, value }: CheckedFile<ConfigurationValue>,
  { mappings, disabled }: Entries,
  diagnostics: Diagnostics,
): void {
  const all = [...mappings, ...disabled].map((entry) => entry.value)
  const modules = new Set(all.flatMap(({ transform }) => transform?.module ?? []))
  diagnostics.report(source, unusedModules(value, modules))
  const paths = all.map(({ match }) => match?.path)
  diagnostics.report(source, unusedEndpoints(value, paths))
}
