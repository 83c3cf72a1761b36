/** Finds the files that ship beside the code; sources, bundle and published package lie in different places. */

import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of a file of this package. */
export function packageFile(...names: readonly string[]): string {
  const manifest = fileURLToPath(import.meta.resolve('reveille/package.json'))
  return path.join(path.dirname(manifest), ...names)
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).version
}

/** The folder of the pages for users; in a clone it lies beside this package. */
export function pagesFolder(): string {
  const shipped = packageFile('docs')
  return existsSync(shipped) ? shipped : packageFile('..', 'docs')
}
