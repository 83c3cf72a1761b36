/** Owns where `@reveille/engine/transform` lies, which every transform may import from wherever its folder is. */

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
  throw new Error(`${authorsTypesName} is missing; install @reveille/engine anew`)
}

/** Installed, it has its name. As a copy without `node_modules`, it stands where sources or published files do. */
function* candidates(): Iterable<string> {
  try {
    yield import.meta.resolve(authorsTypesName)
  } catch {
    // Not installed under its name.
  }
  const { href } = new URL(import.meta.url)
  yield new URL(href.endsWith('.ts') ? '../define.ts' : '../define.js', href).href
  // Flat files in `build`, beside the sources.
  yield new URL(['..', 'engine', 'transform', 'define.ts'].join('/'), href).href
}
