/** Finds `@reveille/engine/transform`, which every transform may import wherever its folder is. */

import { fileURLToPath } from 'node:url'

export const authorsTypesName = '@reveille/engine/transform'

/**
 * Returns the absolute path of the module. Node.js resolves it from the running code as it would any package: in a clone, in a bundle and
 * in an installation the package is in the place where npm put it.
 */
export function findAuthorsTypes(): string {
  return fileURLToPath(import.meta.resolve(authorsTypesName))
}
