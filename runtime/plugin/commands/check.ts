/** Checks plugins without a gateway: manifests and configurations, and what the code of one says about its own. */

import type { Catalog, Settings, Snapshot } from '@reveille/engine'
import { compileRedaction, type Plugin } from '@reveille/kit'
import { configureAll, type PluginConfiguration } from '../configuration/configuration.ts'
import { asFileUrl, createDirectory, type PluginSettings } from '../configuration/directory.ts'
import { catalogOf, isSet, locate, type Specification, specify } from '../configuration/specify.ts'
import { setupProblem, setupRefusal } from '../instance/load.ts'

type Checked = Pick<Settings, 'agents' | 'channels' | 'sources' | 'observers'> & PluginSettings

/**
 * Returns the names that exist, if everything that is configured fits its schema. Runs no plugin code.
 * @throws PluginSetupError with everything that is wrong
 */
export function checkPlugins(
  settings: Checked,
  resolveFrom: string | URL = import.meta.url,
  endpoints?: Snapshot['endpoints'],
): Catalog {
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const specifications = specify(settings, directory, endpoints)
  configureAll(specifications.filter(isSet))
  return catalogOf(directory, specifications)
}

/** Finds the package of one channel or source, whatever else is configured. @throws PluginSetupError */
export function locateOne(
  reference: Parameters<typeof locate>[0],
  settings: Pick<Settings, 'agents'> & PluginSettings,
  resolveFrom: string | URL,
): Specification {
  return locate(reference, createDirectory(settings, asFileUrl(resolveFrom)), settings.agents)
}

/** @throws PluginSetupError with the plugin's own objections to a configuration that fits its schema */
export function checkConfiguration(
  plugin: Plugin,
  specification: Specification,
  { config, secrets }: PluginConfiguration,
): void {
  const redact = compileRedaction(secrets)
  try {
    plugin.check?.(config)
  } catch (error) {
    throw setupRefusal(specification, setupProblem(error, specification, redact), redact, error)
  }
}
