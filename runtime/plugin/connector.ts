/** Owns how a source that is not configured yet is connected to its service: its package is found and asked, nothing is set up. */

import type { Settings } from '@reveille/engine'
import { type ConnectCall, type Connection, compileRedaction, createPluginFetch } from '@reveille/kit'
import { pino } from 'pino'
import { importPlugin } from './check.ts'
import { secretsIn } from './configuration.ts'
import { asFileUrl, createDirectory, type PluginPlaces } from './directory.ts'
import { createExaminer, type Examiner, keysOf, type OfferedKey } from './offer.ts'
import { redactError } from './redaction.ts'
import { PluginSetupError } from './setup-error.ts'
import { askedSource, locate } from './specify.ts'

export interface Connector {
  readonly name: string
  readonly package: string
  /** Of the configuration, the required ones first. */
  readonly keys: readonly OfferedKey[]
  /** What is wrong with a configuration; nothing where it is good. */
  readonly examine: Examiner
  /** `fetch` is the platform's: the plugin is given it as at `setup`. @throws whatever the plugin does, without the secrets of `config` */
  connect(call: ConnectCall): Promise<Connection>
}

/** @throws PluginSetupError for a source that there is not, whose package is not installed, or that needs no connecting */
export async function connectorOf(
  name: string,
  settings: Pick<Settings, 'agents'> & PluginPlaces,
  resolveFrom: string | URL = import.meta.url,
): Promise<Connector> {
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const wanted = locate(askedSource(name, {}), directory, settings.agents)
  const plugin = await importPlugin(wanted)
  if (typeof plugin.connect !== 'function') {
    const problem = { key: wanted.key, message: 'is written by hand: its plugin connects nothing' }
    throw new PluginSetupError('PLUGIN_SETUP', wanted.package.name, [problem])
  }
  const log = pino({ level: 'silent' })
  const owner = { plugin: wanted.package.name, source: name }
  return {
    name,
    package: wanted.package.name,
    keys: keysOf(wanted),
    examine: createExaminer(plugin, wanted),
    async connect(call) {
      const redact = compileRedaction(secretsIn({ ...wanted, given: call.config }))
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
