/** Connects a source to its service before it is configured, and starts a configured source without a gateway. */

import type { Settings } from '@reveille/engine'
import { type ConnectCall, type Connection, compileRedaction, createPluginFetch } from '@reveille/kit'
import { type Logger, pino } from 'pino'
import { parsePluginConfiguration, secretsIn } from '../configuration/configuration.ts'
import type { PluginSettings } from '../configuration/directory.ts'
import { PluginSetupError } from '../configuration/setup-error.ts'
import { referenceTo } from '../configuration/specify.ts'
import { createSourceHandle, type LiveSource } from '../host/handles.ts'
import { startInstance } from '../instance/instance.ts'
import { importPlugin } from '../instance/load.ts'
import { redactError } from '../instance/redaction.ts'
import {
  type ConfigurationCheck,
  createConfigurationCheck,
  keysOf,
  type OfferedKey,
} from './channel-offer.ts'
import { locateOne } from './check.ts'

export interface Connector {
  readonly name: string
  readonly package: string
  /** The key that configures the source: `sources.tides`. */
  readonly key: string
  /** The keys of the configuration, the required ones first. */
  readonly keys: readonly OfferedKey[]
  readonly findProblems: ConfigurationCheck
  /** The plugin gets the same `fetch` as in `setup`. @throws what the plugin throws, without the secrets of `config` */
  connect(call: ConnectCall): Promise<Connection>
}

/** @throws PluginSetupError for a source that does not exist, whose package is not installed, or whose plugin has no `connect` */
export async function createConnector(
  name: string,
  settings: Pick<Settings, 'agents'> & PluginSettings,
  resolveFrom: string | URL = import.meta.url,
): Promise<Connector> {
  const specification = locateOne(referenceTo('source', name), settings, resolveFrom)
  const plugin = await importPlugin(specification, compileRedaction([]))
  if (typeof plugin.connect !== 'function') {
    const problem = {
      key: specification.key,
      message: 'has no automatic setup; write its configuration by hand',
    }
    throw new PluginSetupError('PLUGIN_SETUP', specification.package.name, [problem])
  }
  const log = pino({ level: 'silent' })
  const owner = { plugin: specification.package.name, source: name }
  return {
    name,
    package: specification.package.name,
    key: specification.key,
    keys: keysOf(specification),
    findProblems: createConfigurationCheck(plugin, specification),
    async connect(call) {
      const redact = compileRedaction(secretsIn({ ...specification, rawConfig: call.config }))
      const fetch = createPluginFetch({ fetch: call.fetch, log, owner, signal: call.signal })
      const report: ConnectCall['report'] = (step) =>
        call.report({ ...step, detail: redact(String(step.detail)) })
      try {
        return await Reflect.apply(plugin.connect as NonNullable<typeof plugin.connect>, plugin, [
          { ...call, fetch, report },
        ])
      } catch (error) {
        throw redactError(error, redact)
      }
    },
  }
}

export interface StartSourceOptions {
  readonly log: Logger
  readonly fetch: typeof fetch
  /** Default: this module, or the bundle that holds it. */
  readonly resolveFrom?: string | URL
}

export interface StartedSource extends LiveSource {
  /** Closes what `setup` opened. It is called after the run, and never rejects. */
  close(): Promise<void>
}

/** @throws PluginSetupError for a source that is not configured, or with which a gateway would not start */
export async function startSource(
  name: string,
  settings: Pick<Settings, 'agents' | 'sources'> & PluginSettings,
  { log, fetch, resolveFrom = import.meta.url }: StartSourceOptions,
): Promise<StartedSource> {
  const reference = referenceTo('source', name, settings.sources[name])
  if (!Object.hasOwn(settings.sources, name)) {
    const problem = { key: reference.key, message: 'is not configured' }
    throw new PluginSetupError('PLUGIN_CONFIG', name, [problem])
  }
  const specification = locateOne(reference, settings, resolveFrom)
  const instance = await startInstance(specification, parsePluginConfiguration(specification), { log, fetch })
  return { ...createSourceHandle(instance), close: () => instance.close() }
}
