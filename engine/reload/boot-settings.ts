/** Keeps the settings that are read at start only, and names those whose new values wait for a restart. */

import type { Configuration } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'

const bootNames = ['host', 'port', 'dataDir', 'store'] as const

/** A key as the configuration file names it. */
export type BootKey = `gateway.${(typeof bootNames)[number]}`
export const bootKeys: readonly BootKey[] = bootNames.map((name) => `gateway.${name}` as const)

/**
 * Returns the configuration with the boot-only values of `serving`, or unchanged if nothing is live yet, and the keys whose
 * new values wait for a restart.
 */
export function holdBootSettings(configuration: Configuration, serving: Settings | undefined) {
  const { settings } = configuration
  const held = bootNames.filter((name) => serving && serving.gateway[name] !== settings.gateway[name])
  if (serving === undefined || held.length === 0) return { configuration, heldKeys: [] }
  const kept = Object.fromEntries(held.map((name) => [name, serving.gateway[name]]))
  const gateway = Object.freeze({ ...settings.gateway, ...kept })
  return {
    configuration: Object.freeze({ ...configuration, settings: Object.freeze({ ...settings, gateway }) }),
    heldKeys: held.map((name) => `gateway.${name}` as const),
  }
}
