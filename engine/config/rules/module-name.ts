/** Normalises the name of a transform's module, so that `./review.ts` and `review.ts` are the same. */

import { posix, win32 } from 'node:path'
import type { Finding } from '../file/diagnostic.ts'
import type { Path } from '../values/path.ts'

/** Returns the name relative to `transformsDir`, with `/`. A name outside of the folder keeps its `../`. */
export function moduleName(written: string): string {
  return posix.normalize(written.replaceAll('\\', '/')).replace(/^\.\//, '')
}

/** Returns the mistake in a module's name, if there is one. */
export function checkModuleName(written: string, path: Path, at: 'key' | 'value'): Finding[] {
  const name = moduleName(written)
  // `C:/` is a folder below this one on some systems, and another disk on others.
  const leaves = name === '..' || name.startsWith('../') || posix.isAbsolute(name) || win32.isAbsolute(name)
  const problem = 'leads out of the folder of transforms'
  const hint = 'Put the module below `hooks.transformsDir`, and write its name relative to that: `review.ts`.'
  return leaves ? [{ path, at, code: 'INVALID_PATH', problem, hint }] : []
}
