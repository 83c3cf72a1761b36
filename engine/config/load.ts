/** Loads the configuration file, the environment and the mapping files, and returns one configuration or all mistakes. */

import { resolve } from 'node:path'
import { yieldToEventLoop } from '../yield.ts'
import type { Configuration, Loaded } from './configuration.ts'
import { createEntries, type Entries } from './entries.ts'
import type { Diagnostic, Place } from './file/diagnostic.ts'
import { createFindings, type Findings } from './file/diagnostics.ts'
import { createLoadCache, type LoadCache } from './file/load-cache.ts'
import {
  createLoadContext,
  type Environment,
  type Files,
  type LoadContext,
  realFiles,
} from './file/load-context.ts'
import type { TextParser } from './file/parse-text.ts'
import { createThreadParser, parserInPlace } from './file/parser.ts'
import { startOf } from './file/places.ts'
import { withoutSecrets } from './file/without-secrets.ts'
import { mappingItems, policySets, testItems } from './items.ts'
import { loadMappingFiles } from './mapping-files.ts'
import { loadPresets } from './presets.ts'
import { mergeEndpoints } from './rules/endpoint-policies.ts'
import { checkPolicies } from './rules/policy-rules.ts'
import { rules, unusedEndpoints, unusedModules } from './rules/rules.ts'
import { type CheckedFile, checkFile, readText, unreadable } from './schema/checked-file.ts'
import { type ConfigurationValue, configurationShape } from './schema/configuration-schema.ts'
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
   * Whether a reference to a missing variable or file is only a warning, for commands that read a configuration and
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
  const loadWithCache = createLoadCache()
  const thread = createThreadParser()
  let parser: TextParser = parserInPlace
  return {
    load(files = options.files ?? realFiles) {
      const loaded = loadWithCache((cache) => loadWith({ ...options, files }, cache, parser))
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

async function loadWith(options: LoadOptions, cache: LoadCache, parser: TextParser): Promise<Loaded> {
  const { env, allowsUnset = false } = options
  const file = resolve(options.file)
  const context = createLoadContext({
    file,
    env,
    files: options.files ?? realFiles,
    cache,
    parser,
    allowsUnset,
  })
  const findings = createFindings()
  try {
    for (const { line, ...fault } of await context.readEnvironment())
      findings.add({
        severity: 'warning',
        ...fault,
        place: { ...startOf(resolve(context.folder, '.env')), line },
      })
  } catch (error) {
    // Without its variables, every reference to one would be reported too, with useless advice.
    const diagnostics = [unreadable(resolve(context.folder, '.env'), error)]
    return { ok: false, diagnostics, watched: context.watched(), digest: context.digest() }
  }
  const main = await loadMain(file, context, findings)
  if (main) applyRules(main, findings)
  const files = await loadMappingFiles(main, file, context, findings)
  const presets = await loadPresets(main, options.presets, context, findings)
  const policies = mergeEndpoints(policySets(main, files, presets), cache, findings)
  if (main) await checkPolicies(policies, main, findings)
  const { endpoints } = policies
  const { path, defaultSessionKey } = main?.value.hooks ?? {}
  const hooks = { path: String(path), hasDefaultSession: defaultSessionKey !== undefined }
  const items = mappingItems(main, files, presets)
  const entries = await createEntries(items, context, findings, hooks)
  const { mappings, disabled } = entries
  const cases = testItems(files, presets, entries.replaced)
  const tests = await createTests(cases, context, findings)

  if (main && findings.errors().length === 0) reportUnused(main, entries, findings)

  await yieldToEventLoop()
  const digest = context.digest()
  const watched = context.watched()
  const errors = findings.errors()
  const warnings = findings.warnings()
  const isRefused = errors.length > 0
  const refused = { ok: false, diagnostics: [...errors, ...warnings], watched, digest } as const
  if (!main || (isRefused && !areSettingsSound(main, findings))) return refused
  const settings = freezeDeep(resolveSettings(main.value, file, context.resolvePath))
  // For an indented block, returns the place of its key, because the first line below the key concerns something else.
  const locate = (path: Path): Place => {
    const [key, value] = [main.source.place(path, 'key'), main.source.place(path)]
    return key.line < value.line ? key : value
  }
  const configuration: Configuration = {
    settings,
    mappings: isRefused ? mappings.filter(({ value }) => value.transform === undefined) : mappings,
    disabled,
    tests: isRefused ? [] : tests,
    endpoints,
    digest,
    sources: context.sources(),
    secrets: secretsIn(
      [settings, endpoints, entries.mappings.map(({ parameters }) => parameters)],
      context.referenced(),
    ),
    watched,
    warnings,
    unset: context.unset(),
    locate,
  }
  Object.freeze(configuration)
  return isRefused ? { ...refused, rest: configuration } : { ok: true, configuration }
}

/** Whether all mistakes are in mappings and tests. */
function areSettingsSound({ source, value }: CheckedFile<ConfigurationValue>, findings: Findings): boolean {
  const { hooks, ...others } = value
  const ofHooks = Object.keys(hooks).filter((key) => key !== 'mappings')
  const paths = [...Object.keys(others).map((key) => [key]), ...ofHooks.map((key) => ['hooks', key])]
  return findings.isSound(source, ...paths)
}

async function loadMain(
  file: string,
  context: LoadContext,
  findings: Findings,
): Promise<CheckedFile<ConfigurationValue> | undefined> {
  const text = await readText(file, context, findings, missingConfiguration)
  if (text === undefined) return undefined
  if (text.trim() === '') {
    findings.add({ severity: 'error', ...emptyConfiguration, place: startOf(file) })
    return undefined
  }
  const written = { kind: 'configuration', file, text } as const
  return checkFile<ConfigurationValue>(configurationShape, written, context, findings)
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

function applyRules({ source, value }: CheckedFile<ConfigurationValue>, findings: Findings): void {
  for (const rule of rules) {
    // Rules run one after the other, because a finding of one can make others needless.
    if (!findings.isSound(source, ...rule.reads.map((key) => key.split('.')))) continue
    for (const finding of [...rule.check(value)]) findings.report(source, finding)
  }
}

function reportUnused(
  { source, value }: CheckedFile<ConfigurationValue>,
  { mappings, disabled }: Entries,
  findings: Findings,
): void {
  const all = [...mappings, ...disabled].map((entry) => entry.value)
  const modules = new Set(all.flatMap(({ transform }) => transform?.module ?? []))
  const paths = all.map(({ match }) => match?.path)
  const unused = [...unusedModules(value, modules), ...unusedEndpoints(value, paths)]
  for (const finding of unused) findings.report(source, finding, 'warning')
}
