/** Owns the check of plugins without a gateway: manifests and configurations, and none of their code. */

import type { Catalog, Settings } from '@reveille/engine'
import { configureAll, createConfigurationParser } from './configuration.ts'
import { asFileUrl, createDirectory } from './directory.ts'
import { catalogOf, specify } from './specify.ts'

/**
 * Answers the names that exist, once everything that is configured could be set up.
 * @throws PluginSetupError with all that is wrong
 */
export function checkPlugins(
  settings: Pick<Settings, 'agents' | 'channels' | 'plugins'>,
  resolveFrom: string | URL = import.meta.url,
): Catalog {
  const directory = createDirectory(settings.plugins, asFileUrl(resolveFrom))
  const wanted = specify(settings, directory)
  configureAll(wanted, createConfigurationParser())
  return catalogOf(directory, wanted)
}
