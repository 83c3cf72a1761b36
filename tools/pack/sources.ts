/** Finds the sources of a workspace that are published: those that its entries reach, and so none that only tests reach. */

import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path/posix'
import { PackFailed } from './failure.ts'

/**
 * A quoted relative path. It finds imports of values and types, and also the workers and process entries that are named as URLs, which
 * neither a bundler nor a compiler would follow.
 */
const reference = /(['"])(\.\.?\/[^'"\n]+\.(?:ts|js))\1/g

/**
 * @param folder the workspace; absolute
 * @param entries relative to it
 * @returns relative to it, sorted
 * @throws PackFailed when an entry is missing, or a source reaches past its workspace
 */
export function findShippedSources(folder: string, entries: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const entry of entries) {
    if (!existsSync(join(folder, entry))) {
      throw new PackFailed(`${folder}/package.json names ${entry}, which is not there.`)
    }
    found.add(join(entry))
  }
  // The loop also visits what is added to the set meanwhile.
  for (const source of found) {
    const text = readFileSync(join(folder, source), 'utf8')
    for (const [, , path = ''] of text.matchAll(reference)) {
      const file = relative(folder, join(folder, source, '..', path))
      // A path that does not exist here is the name of a file after publishing.
      if (!existsSync(join(folder, file))) continue
      if (file.startsWith('..')) {
        throw new PackFailed(`${folder}/${source} reaches ${path}, which is not part of its package.`)
      }
      found.add(file)
    }
  }
  return [...found].sort()
}
