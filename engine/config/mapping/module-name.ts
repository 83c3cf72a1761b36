/** Owns how a transform's module is named, so that `./review.ts` and `review.ts` are one. */

import { posix } from 'node:path'

/** Relative to `transformsDir`, with `/`; a name that leads out of the folder keeps its `../`. */
export function moduleName(written: string): string {
  return posix.normalize(written.replaceAll('\\', '/')).replace(/^\.\//, '')
}
