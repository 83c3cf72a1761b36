/** Says which keys a plugin's configuration has, so that commands can ask for them, and tries a channel before it is configured. */

import { readFileSync } from 'node:fs'
import type { Settings } from '@reveille/engine'
import { type Channel, type ChannelHealth, compileRedaction, type Plugin } from '@reveille/kit'
import { pino } from 'pino'
import { parsePluginConfiguration } from '../configuration/configuration.ts'
import type { PluginSettings } from '../configuration/directory.ts'
import { type PluginProblem, PluginSetupError } from '../configuration/setup-error.ts'
import { referenceTo, type Specification } from '../configuration/specify.ts'
import { redactHealth } from '../host/handles.ts'
import { startInstance } from '../instance/instance.ts'
import { importPlugin } from '../instance/load.ts'
import { checkConfiguration, locateOne } from './check.ts'

/** One key of a channel's or source's configuration. */
export interface OfferedKey {
  readonly key: string
  readonly description: string
  readonly isSecret: boolean
  readonly isRequired: boolean
  /** True if it is worth asking for, although it is optional. */
  readonly isUsual: boolean
  /** The environment variable that usually holds it. */
  readonly variable?: string
  readonly type: 'text' | 'flag' | 'number' | 'other'
  /** The values that are allowed, where they are few. */
  readonly choices?: readonly string[]
  readonly default?: unknown
}

export interface ChannelOffer {
  readonly name: string
  readonly package: string
  readonly keys: readonly OfferedKey[]
  /**
   * Imports the plugin and returns what examines a configuration: by the schema, and then by the plugin's own check.
   * @throws PluginSetupError if the plugin cannot be imported
   */
  configurationCheck(): Promise<ConfigurationCheck>
}

/** Returns what is wrong with a configuration. */
export type ConfigurationCheck = (config: Readonly<Record<string, unknown>>) => readonly PluginProblem[]

/** @throws PluginSetupError for a channel that does not exist, or whose package is not installed */
export function offerOf(
  name: string,
  settings: Pick<Settings, 'agents'> & PluginSettings,
  resolveFrom: string | URL = import.meta.url,
): ChannelOffer {
  const specification = locateOne(referenceTo('channel', name), settings, resolveFrom)
  return {
    name,
    package: specification.package.name,
    keys: keysOf(specification),
    async configurationCheck() {
      return createConfigurationCheck(await importPlugin(specification, compileRedaction([])), specification)
    },
  }
}

export function createConfigurationCheck(plugin: Plugin, specification: Specification): ConfigurationCheck {
  return (config) => {
    try {
      const changed = { ...specification, rawConfig: config }
      checkConfiguration(plugin, changed, parsePluginConfiguration(changed))
      return []
    } catch (error) {
      if (error instanceof PluginSetupError && error.code !== 'PLUGIN_MANIFEST') return error.problems
      throw error
    }
  }
}

/** The part of a schema's property that is read. */
interface Property {
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly 'x-secret'?: boolean
  readonly 'x-ask'?: boolean
  readonly 'x-env'?: string
}

/** The required ones first. */
export function keysOf({ package: found }: Specification): readonly OfferedKey[] {
  const schema = JSON.parse(readFileSync(found.configSchema, 'utf8')) as {
    readonly properties?: Readonly<Record<string, Property>>
    readonly required?: readonly string[]
  }
  const keys = Object.entries(schema.properties ?? {}).map(([key, property]) => ({
    key,
    description: property.description ?? '',
    isSecret: property['x-secret'] === true,
    isRequired: schema.required?.includes(key) === true,
    isUsual: property['x-ask'] === true || key === 'defaultTo',
    type: typeOf(property),
    ...(property['x-env'] !== undefined && { variable: property['x-env'] }),
    ...(property.enum?.every((value) => typeof value === 'string') && { choices: property.enum as string[] }),
    ...(property.default !== undefined && { default: property.default }),
  }))
  return keys.sort((left, right) => Number(right.isRequired) - Number(left.isRequired))
}

function typeOf({ type, enum: values }: Property): OfferedKey['type'] {
  if (values !== undefined || type === 'string') return 'text'
  if (type === 'boolean') return 'flag'
  return type === 'integer' || type === 'number' ? 'number' : 'other'
}

export interface TryOptions {
  readonly fetch: typeof fetch
  /** Milliseconds that the trial may take; default 15,000. */
  readonly timeoutMs?: number
  readonly resolveFrom?: string | URL
}

/** Longer than the close of a channel that has sent nothing takes. Milliseconds. */
const closeTimeoutMs = 2000

/**
 * tryChannel sets a channel up, asks it whether it would work, and closes it. Nothing is sent. It resolves with undefined if the channel
 * cannot tell; a failure on the way to the service is a result too.
 * @throws PluginSetupError for a configuration with which a gateway would not start
 */
export async function tryChannel(
  name: string,
  config: Readonly<Record<string, unknown>>,
  settings: Pick<Settings, 'agents'> & PluginSettings,
  { fetch, timeoutMs = 15_000, resolveFrom = import.meta.url }: TryOptions,
): Promise<ChannelHealth | undefined> {
  const specification = locateOne(referenceTo('channel', name, config), settings, resolveFrom)
  const instance = await startInstance(specification, parsePluginConfiguration(specification), {
    log: pino({ level: 'silent' }),
    fetch,
    setupTimeoutMs: timeoutMs,
    closeTimeoutMs,
  })
  try {
    const health = await (instance.provided as Channel).check?.(AbortSignal.timeout(timeoutMs))
    return health && redactHealth(health, instance.redact)
  } catch (error) {
    return redactHealth({ ok: false, detail: (error as Error).message }, instance.redact)
  } finally {
    await instance.close()
  }
}
