/** Owns what a plugin's manifest says of its configuration, so that somebody can be asked for it before any code runs. */

import { readFileSync } from 'node:fs'
import type { Settings } from '@reveille/engine'
import type { Plugin } from '@reveille/kit'
import { checkConfiguration, importPlugin } from './check.ts'
import { configureAll } from './configuration.ts'
import { asFileUrl, createDirectory, type PluginPlaces } from './directory.ts'
import { type PluginProblem, PluginSetupError } from './setup-error.ts'
import { locate, type Specification } from './specify.ts'

/** One key of a channel's or source's configuration. */
export interface OfferedKey {
  readonly key: string
  /** A sentence. */
  readonly description: string
  readonly isSecret: boolean
  readonly isRequired: boolean
  /** Worth asking for, though it works without. */
  readonly isUsual: boolean
  /** The environment variable that customarily holds it. */
  readonly variable?: string
  readonly type: 'text' | 'flag' | 'number' | 'other'
  /** The values that it takes, where they are few. */
  readonly choices?: readonly string[]
  readonly default?: unknown
}

export interface ChannelOffer {
  readonly name: string
  readonly package: string
  readonly keys: readonly OfferedKey[]
  /**
   * Brings what says what is wrong with a configuration, in the order of its keys: by the schema, and where that has
   * nothing against it by the plugin's own check. @throws PluginSetupError where the plugin cannot be imported
   */
  examiner(): Promise<Examiner>
}

/** Nothing where the configuration is good. */
export type Examiner = (config: Readonly<Record<string, unknown>>) => readonly PluginProblem[]

/** @throws PluginSetupError for a channel that there is not, or whose package is not installed */
export function offerOf(
  name: string,
  settings: Pick<Settings, 'agents'> & PluginPlaces,
  resolveFrom: string | URL = import.meta.url,
): ChannelOffer {
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const asked = { kind: 'channel', name, id: name, key: `channels.${name}`, given: {} } as const
  const wanted = locate(asked, directory, settings.agents)
  return {
    name,
    package: wanted.package.name,
    keys: keysOf(wanted),
    async examiner() {
      return createExaminer(await importPlugin(wanted), wanted)
    },
  }
}

export function createExaminer(plugin: Plugin, wanted: Specification): Examiner {
  return (config) => {
    try {
      const asked = { ...wanted, given: config }
      for (const [each, parsed] of configureAll([asked])) checkConfiguration(plugin, each, parsed)
      return []
    } catch (error) {
      if (error instanceof PluginSetupError && error.code !== 'PLUGIN_MANIFEST') return error.problems
      throw error
    }
  }
}

/** What is read of one property of a schema. */
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
