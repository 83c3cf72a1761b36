/** Checks a plugin's configuration against the schema that the plugin ships, and finds its secrets. */

import { readFileSync } from 'node:fs'
import { freezeDeep } from '@reveille/engine'
import { nearestName } from '@reveille/engine/text'
import { BoundedMap, oneLine } from '@reveille/kit'
import type { Ajv2020, AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { collectSecrets, createCompiler } from './create-compiler.ts'
import { mapJoined, type PluginProblem, PluginSetupError, withoutRepeats } from './setup-error.ts'
import { oneAccountHint, type Specification } from './specify.ts'

export interface PluginConfiguration {
  /** A frozen copy with the defaults of the schema. */
  readonly config: unknown
  /** The texts under `x-secret: true`. */
  readonly secrets: readonly string[]
}

/** The keys with which OpenClaw configures several accounts of one channel. */
const accountKeys = new Set(['account', 'accounts', 'accountId', 'defaultAccount'])

/** Maximum length of the reason that a schema cannot be used, in characters. */
const maxReasonLength = 200

/** One compiler serves the whole process, because creating it costs more than compiling the schema of any plugin. */
let compiler: Ajv2020 | undefined

/**
 * Checks what is configured. Types are strict: a text that looks like a number is not a number.
 * @throws PluginSetupError `PLUGIN_CONFIG`, or `PLUGIN_MANIFEST` when the schema itself is unusable
 */
export function parsePluginConfiguration(wanted: Specification): PluginConfiguration {
  const config = structuredClone(wanted.rawConfig)
  const { result, secrets } = collectSecrets(() => validate(wanted, config))
  const { isValid, errors } = result
  if (!isValid) throw new PluginSetupError('PLUGIN_CONFIG', wanted.package.name, unique(errors, wanted))
  return { config: freezeDeep(config), secrets }
}

/** The texts under `x-secret: true`, even if the configuration is wrong. @throws PluginSetupError `PLUGIN_MANIFEST` */
export function secretsIn(wanted: Specification): readonly string[] {
  return collectSecrets(() => validate(wanted, structuredClone(wanted.rawConfig))).secrets
}

function validate({ package: found, key }: Specification, config: unknown) {
  try {
    const check = compile(found.configSchema)
    return { isValid: check(config), errors: check.errors ?? [] }
  } catch (cause) {
    const why = `${found.configSchema}: ${oneLine((cause as Error).message, maxReasonLength)}`
    const problem = { key, message: 'needs a plugin whose configuration schema can be used', hint: why }
    throw new PluginSetupError('PLUGIN_MANIFEST', found.name, [problem], { cause })
  }
}

/** By file. A reload reads each schema again, and compiles those that have changed. */
const compiled = new BoundedMap<string, { readonly text: string; readonly check: ValidateFunction }>(100)

function compile(file: string): ValidateFunction {
  const text = readFileSync(file, 'utf8')
  const cached = compiled.get(file)
  if (cached?.text === text) return cached.check
  const check = compileText(text)
  compiled.set(file, { text, check })
  return check
}

function compileText(text: string): ValidateFunction {
  const schema = JSON.parse(text) as AnySchemaObject
  compiler ??= createCompiler()
  try {
    return compiler.compile(schema)
  } finally {
    // Schemas must not pile up in the compiler, and the `$id` of one must not block another.
    compiler.removeSchema(schema)
  }
}

/**
 * Checks the configuration of all plugins before any is started, so that a mistake in one changes no other.
 * @throws PluginSetupError with everything that is wrong
 */
export function configureAll(wanted: readonly Specification[]) {
  return mapJoined(wanted, (each) => [each, parsePluginConfiguration(each)] as const)
}

/** A problem holds names and rules only, because `error.data` and the messages of Ajv may hold a secret. */
function problemOf(error: ErrorObject, wanted: Specification): PluginProblem {
  const at = (name?: string) =>
    keyOf([...pathOf(error.instancePath), ...(name === undefined ? [] : [name])], wanted)
  const { params } = error
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty'])
      const keys = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {})
      const isAccount = wanted.kind === 'channel' && accountKeys.has(name)
      const hint = isAccount ? oneAccountHint(wanted.name) : hintFor(name, keys)
      return { key: at(name), message: 'is not a known key', hint }
    }
    case 'required': {
      const name = String(params['missingProperty'])
      const properties = error.parentSchema?.['properties'] as Readonly<Record<string, unknown>> | undefined
      return { key: at(name), message: 'is required', ...purposeOf(properties?.[name]) }
    }
    case 'pattern': {
      const form: unknown = error.parentSchema?.['x-form']
      const rule = typeof form === 'string' ? `must be ${form}` : error.message
      return {
        key: at(),
        message: rule ?? 'has not the form that it must have',
        ...purposeOf(error.parentSchema),
      }
    }
    case 'x-max-duration':
      return { key: at(), message: `is longer than ${error.schema}`, ...purposeOf(error.parentSchema) }
    case 'type':
      return { key: at(), message: `must be of type ${[params['type']].flat().join(' or ')}` }
    case 'enum':
      return { key: at(), message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` }
    default:
      return {
        key: at(),
        message: error.message ?? `breaks the rule ${error.keyword}`,
        ...purposeOf(error.parentSchema),
      }
  }
}

/** The description of a key helps a person more than its pattern. */
function purposeOf(schema: unknown): { readonly hint?: string } {
  const description = (schema as { readonly description?: unknown } | undefined)?.description
  return typeof description === 'string' ? { hint: description.replace(/\.$/, '') } : {}
}

/** The problem of an inherited key is reported where the key is written. */
export function keyOf(path: readonly string[], { key, inherited }: Specification): string {
  const isInherited = inherited.some((name) => name === path[0])
  return [isInherited ? 'agents' : key, ...path].join('.')
}

function hintFor(name: string, known: readonly string[]): string {
  const close = nearestName(name, known)
  if (close !== undefined) return `did you mean \`${close}\`?`
  return known.length === 0 ? 'it takes no configuration' : `known keys: ${known.join(', ')}`
}

function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function unique(errors: readonly ErrorObject[], wanted: Specification): PluginProblem[] {
  // An error of `if` only says that one of its branches failed; the error of the branch says why.
  const causes = errors.filter(({ keyword }) => keyword !== 'if')
  return withoutRepeats(causes.map((error) => problemOf(error, wanted)))
}
