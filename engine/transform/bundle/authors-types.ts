/** Finds `@reveille/engine/transform`, which every transform may import wherever its folder is. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const authorsTypesName = '@reveille/engine/transform'

/**
 * Returns the absolute path of the module: the source, or its published form.
 * @throws Error if it is missing from this installation
 */
export function findAuthorsTypes(): string {
  const beside = import.meta.url.endsWith('.ts') ? '../define.ts' : '../define.js'
  // The others lead there from the bundles: the second from `build`, which lies beside the sources, the third from that of the published
  // command, whose package lies beside this one.
  const found = [beside, '../engine/transform/define.ts', '../../engine/transform/define.js']
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((file) => existsSync(file))
  if (found === undefined) throw new Error(`${authorsTypesName} is missing; reinstall @reveille/engine`)
  return found
}
