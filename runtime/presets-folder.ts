/** Owns where the built-in presets are: in a package of their own, wherever that was installed. */

import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute. Holds one YAML file for each preset, by its name. */
export function presetsFolder(): string {
  return path.dirname(fileURLToPath(import.meta.resolve('@reveille/mappings/package.json')))
}
