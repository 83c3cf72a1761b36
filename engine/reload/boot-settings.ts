/** Owns the settings that are read at start only: a running gateway keeps its values and says what it keeps. */

import type { Configuration } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'

export const bootKeys = ['host', 'port', 'dataDir', 'store'] as const
/** As the configuration file names them. */
export type BootKey = `gateway.${(typeof bootKeys)[number]}`

export interface Held {
  readonly configuration: Configuration
  /** Keys whose new values wait for a restart. */
  readonly heldKeys: readonly BootKey[]
}

/** The configuration with the boot-only values of `serving`; unchanged when nothing serves yet. */
export function holdBootSettings(configuration: Configuration, serving: Settings | undefined): Held {
  const { settings } = configuration
  const changed = bootKeys.filter(
    (key) => serving !== undefined && serving.gateway[key] !== settings.gateway[key],
  )
  if (serving === undefined || changed.length === 0) return { configuration, heldKeys: [] }
  const { host, port, dataDir, store } = serving.gateway
  const gateway = Object.freeze({ ...settings.gateway, host, port, dataDir, store })
  return {
    configuration: Object.freeze({ ...configuration, settings: Object.freeze({ ...settings, gateway }) }),
    heldKeys: changed.map((key) => `gateway.${key}` as const),
  }
}
