/** Checks plugins without a gateway: manifests, configurations and, on request, what their code says about them. */

import { type Catalog, holdsUnset, type Settings } from '@reveille/engine'
import { compileRedaction, type Plugin } from '@reveille/kit'
import type { AddressRules } from '../configuration/addresses.ts'
import { configureAll, type PluginConfiguration } from '../configuration/configuration.ts'
import { asFileUrl, createDirectory, type PluginPlaces } from '../configuration/directory.ts'
import { throwJoined } from '../configuration/setup-error.ts'
import { catalogOf, locate, type Specification, specify } from '../configuration/specify.ts'
import { importPlugin, setupProblem, setupRefusal } from '../instance/load.ts'

type Checked = Pick<Settings, 'agents' | 'channels' | 'sources'> & PluginPlaces

/**
 * Returns the names that exist, if everything that is configured fits its schema. Runs no plugin code.
 * @throws PluginSetupError with everything that is wrong
 */
export function checkPlugins(settings: Checked, resolveFrom: string | URL = import.meta.url): Catalog {
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const wanted = specify(settings, directory)
  configureAll(wanted.filter(isSet))
  return catalogOf(directory, wanted)
}

/**
 * Has each configured plugin check what its schema cannot say. Nothing is set up. Returns the address rules of the channels that have
 * one without being set up.
 * @throws PluginSetupError with everything that is wrong, in the words of a start
 */
export async function examinePlugins(
  settings: Checked,
  resolveFrom: string | URL = import.meta.url,
): Promise<AddressRules> {
  const wanted = specify(settings, createDirectory(settings, asFileUrl(resolveFrom)))
  const ready = configureAll(wanted.filter(isSet))
  const outcomes = await Promise.allSettled(ready.map((each) => examine(...each)))
  throwJoined(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])))
  const channels = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' && outcome.value.wanted.kind === 'channel' ? [outcome.value] : [],
  )
  return (name) => {
    const { plugin } = channels.find(({ wanted }) => wanted.name === name) ?? {}
    return plugin?.target && ((to) => plugin.target?.(to, name))
  }
}

/** A configuration with an unset reference cannot be checked. */
function isSet({ given }: Specification): boolean {
  return !holdsUnset(given)
}

async function examine(wanted: Specification, configuration: PluginConfiguration) {
  const plugin = await importPlugin(wanted, compileRedaction(configuration.secrets))
  checkConfiguration(plugin, wanted, configuration)
  return { wanted, plugin }
}

/** Finds the package of one channel or source, whatever else is configured. @throws PluginSetupError */
export function locateAlone(
  asked: Parameters<typeof locate>[0],
  settings: Pick<Settings, 'agents'> & PluginPlaces,
  resolveFrom: string | URL,
): Specification {
  return locate(asked, createDirectory(settings, asFileUrl(resolveFrom)), settings.agents)
}

/** @throws PluginSetupError with the plugin's own objections to a configuration that fits its schema */
export function checkConfiguration(
  plugin: Plugin,
  wanted: Specification,
  { config, secrets }: PluginConfiguration,
): void {
  const redact = compileRedaction(secrets)
  try {
    plugin.check?.(config)
  } catch (error) {
    throw setupRefusal(wanted, setupProblem(error, wanted, redact), redact, error)
  }
}
