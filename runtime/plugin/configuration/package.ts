/** Reads the package.json of a plugin, which says what is known of the plugin before any of its code runs. */

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isRecord } from '@reveille/engine'
import { nearestName } from '@reveille/engine/text'
import { asRecord, KIT_VERSION, type PluginManifest, parseJson } from '@reveille/kit'
import { contentOf } from './content.ts'
import { type PluginProblem, PluginSetupError } from './setup-error.ts'

/** The query of the modules of a plugin that a folder holds. */
export const contentParameter = 'reveille'

/** Keys of `agents` that a runner can inherit beside its own configuration. */
const inheritable = ['providers'] as const
export type InheritedKey = (typeof inheritable)[number]

/** Where a manifest and the setup of a plugin list the names of each kind. */
export const listOf = {
  channel: 'channels',
  runner: 'runners',
  source: 'sources',
  provider: 'providers',
  observer: 'observers',
} as const

export type ProvidedKind = keyof typeof listOf

export const kinds = Object.keys(listOf) as readonly ProvidedKind[]

export function byKind<Value>(of: (kind: ProvidedKind) => Value): Record<ProvidedKind, Value> {
  return Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as Record<ProvidedKind, Value>
}

const lists = [...Object.values(listOf), 'inherits'] as const
const flags = ['relays', 'needsConfiguration'] as const
const paths = ['configSchema', 'setup'] as const
const manifestKeys: readonly string[] = [
  'kit',
  ...lists,
  ...flags,
  ...paths,
] satisfies readonly (keyof PluginManifest)[]

export interface PluginPackage {
  readonly name: string
  /** The file that an import of the package would load. Of a folder, with its content as the query, so that an edited plugin is imported again. */
  readonly entry: URL
  readonly provides: Readonly<Record<ProvidedKind, readonly string[]>>
  /** The keys of `agents` that its runners inherit. */
  readonly inherits: readonly InheritedKey[]
  /** True if its runners pass the events of the main session on instead of answering them. */
  readonly relays: boolean
  readonly needsConfiguration: boolean
  /** Absolute path of the JSON Schema for the plugin's configuration. */
  readonly configSchema: string
  /** Absolute path of the description of its commands. */
  readonly setup?: string
}

/**
 * readPluginPackage reads the package that `specifier` names: either a package name, which is looked for from each place of `from` in
 * turn as an import would, or the absolute path of a folder. `key` is the configuration key to blame.
 * @throws PluginSetupError `PLUGIN_MISSING`, `PLUGIN_MANIFEST`, `PLUGIN_KIT`
 */
export function readPluginPackage(specifier: string, from: readonly URL[], key: string): PluginPackage {
  const file = findManifest(specifier, from, key)
  const folder = dirname(file)
  const description: Description | undefined = asRecord(parseJson(readFileSync(file, 'utf8')))
  const { name = specifier, reveille } = description ?? {}

  const refuse = (message: string, hint?: string) =>
    new PluginSetupError('PLUGIN_MANIFEST', name, [{ key, message, hint }])
  if (description === undefined) throw refuse('names a package whose package.json is not a JSON object')
  if (!isRecord(reveille)) throw refuse('names a package without a `reveille` key in its package.json')
  if ('driver' in reveille)
    throw refuse('names a driver of databases', 'it needs no entry here: `gateway.store` finds its package')
  const unknown = Object.keys(reveille).find((each) => !manifestKeys.includes(each))
  if (unknown !== undefined) {
    const close = nearestName(unknown, manifestKeys)
    const hint = close === undefined ? `known keys: ${manifestKeys.join(', ')}` : `did you mean \`${close}\`?`
    throw refuse(`names a plugin whose \`reveille.${unknown}\` is not a known key`, hint)
  }
  const { kit } = reveille
  if (kit !== KIT_VERSION) {
    const version = Number.isInteger(kit) ? `version ${kit}` : 'no version'
    const message = `names a plugin that asks for ${version} of the kit; this is ${KIT_VERSION}`
    throw new PluginSetupError('PLUGIN_KIT', name, [{ key, message }])
  }
  const check = (keys: readonly string[], isGood: (value: unknown) => boolean, what: string) => {
    const wrong = keys.find((each) => reveille[each] !== undefined && !isGood(reveille[each]))
    if (wrong !== undefined) throw refuse(`names a plugin whose \`reveille.${wrong}\` is ${what}`)
  }
  check(lists, isNames, 'not a list of names')
  check(flags, (value) => typeof value === 'boolean', 'neither true nor false')
  const isPath = (value: unknown) => typeof value === 'string' && isInside(folder, join(folder, value))
  check(paths, isPath, 'not a path inside the package')
  const manifest = reveille as Partial<PluginManifest>
  const { configSchema, setup, inherits = [], relays = false, needsConfiguration = false } = manifest
  if (configSchema === undefined) throw refuse('names a plugin without `reveille.configSchema`')
  if (!isInheritable(inherits)) {
    const known = `known: ${inheritable.join(', ')}`
    throw refuse('names a plugin whose `reveille.inherits` holds what is not to be inherited', known)
  }
  const entry = entryOf(description)
  if (entry === undefined || !isInside(folder, join(folder, entry))) {
    throw refuse('names a package without an entry', 'its package.json needs `exports` for "." or `main`')
  }
  return {
    name,
    entry: entryUrl(join(folder, entry), isAbsolute(specifier) ? contentOf(folder) : undefined),
    provides: byKind((kind) => manifest[listOf[kind]] ?? []),
    relays,
    needsConfiguration,
    inherits,
    configSchema: join(folder, configSchema),
    ...(setup !== undefined && { setup: join(folder, setup) }),
  }
}

function entryUrl(file: string, content: string | undefined): URL {
  const url = pathToFileURL(file)
  if (content !== undefined) url.searchParams.set(contentParameter, content)
  return url
}

function findManifest(specifier: string, from: readonly URL[], key: string): string {
  if (isAbsolute(specifier)) {
    const file = join(specifier, 'package.json')
    if (existsSync(file)) return realpathSync(file)
    const problem = { key, message: `names the folder ${specifier}, which holds no package.json` }
    throw new PluginSetupError('PLUGIN_MISSING', specifier, [problem])
  }
  let cause: unknown
  for (const place of from) {
    try {
      const file = findPackageJSON(specifier, place)
      if (file !== undefined) return realpathSync(file)
    } catch (error) {
      cause = error
    }
  }
  throw new PluginSetupError('PLUGIN_MISSING', specifier, [missing(specifier, from, key)], { cause })
}

/** The hint installs beside the configuration, where a package survives a new installation of Reveille. */
function missing(specifier: string, from: readonly URL[], key: string): PluginProblem {
  const [beside] = from.filter((place) => place.pathname.endsWith('.yaml'))
  const where = beside === undefined ? '' : ` in ${dirname(fileURLToPath(beside))}`
  return {
    key,
    message: `needs the package ${specifier}, which is not installed`,
    hint: `npm install${where && ' --prefix .'} ${specifier}${where}`,
  }
}

interface Description {
  readonly name?: string
  readonly exports?: unknown
  readonly main?: unknown
  readonly reveille?: unknown
}

/** The conditions under which Node.js imports a plugin. */
const conditions = new Set(['node', 'import', 'module-sync', 'default'])

/**
 * The "." of the package's `exports` for an import. It is resolved here because Node.js resolves from another place than the running
 * module only as `require` does, and a plugin may be for `import` alone.
 */
function entryOf({ exports, main }: Description): string | undefined {
  if (exports === undefined) return typeof main === 'string' ? main : undefined
  const isMap = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith('.'))
  return choose(isMap ? exports['.'] : exports)
}

function choose(target: unknown): string | undefined {
  if (typeof target === 'string') return target
  const options = Array.isArray(target)
    ? target
    : Object.entries(isRecord(target) ? target : {}).flatMap(([key, value]) =>
        conditions.has(key) ? [value] : [],
      )
  for (const option of options) {
    const chosen = choose(option)
    if (chosen !== undefined) return chosen
  }
  return undefined
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')
}

function isInheritable(names: readonly string[]): names is readonly InheritedKey[] {
  const keys: readonly string[] = inheritable
  return names.every((name) => keys.includes(name))
}
