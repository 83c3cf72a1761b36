/** Finds how plugins are connected by commands: as their packages describe it, and by which functions of theirs. */

import { readFileSync } from 'node:fs'
import type { Settings } from '@reveille/engine'
import {
  asRecord,
  compileRedaction,
  asList as listed,
  parseJson,
  type Registration,
  type SetupDescription,
} from '@reveille/kit'
import { asFileUrl, builtIn, createDirectory, type PluginSettings } from '../configuration/directory.ts'
import type { PluginPackage } from '../configuration/package.ts'
import { PluginSetupError } from '../configuration/setup-error.ts'
import { referenceTo } from '../configuration/specify.ts'
import { importPlugin } from '../instance/load.ts'
import { locateOne } from './check.ts'

type ConnectedKind = 'source' | 'provider'

/** The built-in names, each with its description; undefined if its package is not installed beside this module. */
export function builtInSetups(
  kind: ConnectedKind,
): readonly [name: string, setup: SetupDescription | undefined][] {
  const directory = createDirectory({ plugins: [] }, asFileUrl(import.meta.url))
  return builtIn[kind].map((name) => {
    try {
      const found = directory.find(kind, name, name)
      return [name, found && setupIn(found)]
    } catch (error) {
      if (error instanceof PluginSetupError) return [name, undefined]
      throw error
    }
  })
}

type Settled = Pick<Settings, 'agents'> & PluginSettings

/** @throws PluginSetupError for a name that no package has, or whose package is not connected by commands */
export function setupOf(kind: ConnectedKind, name: string, settings: Settled): SetupDescription {
  const found = locateOne(referenceTo(kind, name), settings, import.meta.url).package
  const setup = setupIn(found)
  if (setup !== undefined) return setup
  throw unconnected(found, name)
}

/** Imports the plugin that registers webhooks at a provider. @throws PluginSetupError */
export async function registrationOf(name: string, settings: Settled): Promise<Registration> {
  const specification = locateOne(referenceTo('provider', name), settings, import.meta.url)
  const { registration } = await importPlugin(specification, compileRedaction([]))
  if (registration !== undefined) return registration
  throw unconnected(specification.package, name)
}

function unconnected(found: PluginPackage, key: string): PluginSetupError {
  const problem = { key, message: 'is configured by hand: its plugin connects nothing' }
  return new PluginSetupError('PLUGIN_SETUP', found.name, [problem])
}

/** @throws PluginSetupError `PLUGIN_MANIFEST` */
function setupIn({ name, setup }: PluginPackage): SetupDescription | undefined {
  if (setup === undefined) return undefined
  let text = ''
  try {
    text = readFileSync(setup, 'utf8')
  } catch {
    // The error below says it.
  }
  const value = asRecord(parseJson(text))
  const isGood =
    typeof value?.['title'] === 'string' &&
    [value['connect'], value['other'] ?? value['connect']].every((each) => {
      const { description, options = [], examples } = asRecord(each) ?? {}
      const flags = listed(options).every((option) => typeof asRecord(option)?.['flags'] === 'string')
      return typeof description === 'string' && Array.isArray(examples) && flags
    })
  if (isGood) return value as unknown as SetupDescription
  const hint =
    'it needs `title` and `connect`, with a `description`, `examples`, and `flags` in each of `options`'
  const problem = { key: 'reveille.setup', message: `names ${setup}, which describes no commands`, hint }
  throw new PluginSetupError('PLUGIN_MANIFEST', name, [problem])
}
