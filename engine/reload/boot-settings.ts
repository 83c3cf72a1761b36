/** Keeps the settings that are read at start only, and names those whose new values wait for a restart. */

import { isDeepStrictEqual } from 'node:util'
import type { Configuration } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'

/** Maps a key of the configuration file to its path in the settings. */
const bootPaths = {
  'gateway.host': ['gateway', 'host'],
  'gateway.port': ['gateway', 'port'],
  'gateway.dataDir': ['gateway', 'dataDir'],
  'gateway.store': ['gateway', 'store'],
} as const

export type BootKey = keyof typeof bootPaths
export const bootKeys = Object.keys(bootPaths) as readonly BootKey[]

export interface Held {
  readonly configuration: Configuration
  /** The keys whose new values wait for a restart. */
  readonly heldKeys: readonly BootKey[]
}

/** Returns the configuration with the boot-only values of `serving`, or unchanged if nothing is live yet. */
export function holdBootSettings(configuration: Configuration, serving: Settings | undefined): Held {
  if (serving === undefined) return { configuration, heldKeys: [] }
  let { settings } = configuration
  const heldKeys = bootKeys.filter((key) => {
    const path = bootPaths[key]
    const held = read(serving, path)
    if (isDeepStrictEqual(held, read(settings, path))) return false
    settings = replace(settings, path, held)
    return true
  })
  if (heldKeys.length === 0) return { configuration, heldKeys }
  return { configuration: Object.freeze({ ...configuration, settings }), heldKeys }
}

function read(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], value)
}

function replace<Whole extends object>(whole: Whole, path: readonly string[], value: unknown): Whole {
  const [key, ...rest] = path
  if (key === undefined) return whole
  const part = (whole as Record<string, unknown>)[key]
  const next = rest.length === 0 ? value : replace(part as object, rest, value)
  return Object.freeze({ ...whole, [key]: next })
}
