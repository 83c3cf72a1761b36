/** Finds the folder of the built-in presets, which are a package of their own. */

import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The absolute path of the folder, which holds one YAML file for each preset. */
export function presetsFolder(): string {
  return path.dirname(fileURLToPath(import.meta.resolve('@reveille/mappings/package.json')))
}
