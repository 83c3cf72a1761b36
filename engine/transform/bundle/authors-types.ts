/** Finds `@reveille/engine/transform`, which every transform may import wherever its folder is. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const authorsTypesName = '@reveille/engine/transform'

/**
 * Absolute path of our module of that name: the source, or what is published of it.
 *
 * @throws Error when this installation has lost it
 */
export function findAuthorsTypes(): string {
  for (const candidate of candidates()) {
    const file = fileURLToPath(candidate)
    if (existsSync(file)) return file
  }
  throw new Error(`${authorsTypesName} is missing; reinstall @reveille/engine`)
}

/** An installed engine is found by name; a copy without `node_modules` has the file beside its sources or published files. */
function* candidates(): Iterable<string> {
  try {
    yield import.meta.resolve(authorsTypesName)
  } catch {
    // Not installed under its name.
  }
  const { href } = new URL(import.meta.url)
  yield new URL(href.endsWith('.ts') ? '../define.ts' : '../define.js', href).href
  // Seen from the flat files in `build`, which lies beside the sources.
  yield new URL(['..', 'engine', 'transform', 'define.ts'].join('/'), href).href
}
