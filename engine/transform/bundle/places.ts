/** Owns which paths the bundler asks on the way to an import, in its order, so that a later answer can be noticed. */

import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { isAbsent } from './file-hash.ts'

/** In the order in which they are tried behind a name without one. */
export const resolvedExtensions = [
  '.ts',
  '.mts',
  '.cts',
  '.tsx',
  '.js',
  '.mjs',
  '.cjs',
  '.jsx',
  '.json',
] as const

/** What TypeScript lets a name stand for. */
const sourcesOf: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx', '.ts'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
}

/** Where a path leads: itself with its links resolved, or null where there is nothing. */
export async function leadsTo(place: string): Promise<string | null> {
  try {
    return await realpath(place)
  } catch (error) {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === 'ELOOP') return null
    throw error
  }
}

export function isRelative(specifier: string): boolean {
  return /^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..' || path.isAbsolute(specifier)
}

/** The package that a name begins with: `@scope/name/part` is of `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** The paths that an import in a file of `folder` may lead to, the first that exists being taken. */
export function* candidatesOf(specifier: string, folder: string): Iterable<string> {
  if (isRelative(specifier)) {
    const wanted = path.resolve(folder, specifier)
    yield wanted
    for (const extension of resolvedExtensions) yield wanted + extension
    const extension = path.extname(wanted)
    for (const other of sourcesOf[extension] ?? []) yield wanted.slice(0, -extension.length) + other
    yield path.join(wanted, 'package.json')
    for (const each of resolvedExtensions) yield path.join(wanted, `index${each}`)
    return
  }
  if (specifier.startsWith('#')) return
  for (const above of foldersFrom(folder)) yield path.join(above, 'node_modules', packageOf(specifier))
}

/** The folder and all above it. */
export function* foldersFrom(folder: string): Iterable<string> {
  for (let current = folder; ; current = path.dirname(current)) {
    yield current
    if (current === path.dirname(current)) return
  }
}

/**
 * Notes down where the candidates lead, up to the one that `resolved` came of.
 *
 * @param resolved absolute, links resolved; absent: nothing was found
 */
export async function notePlaces(
  places: Map<string, string | null>,
  found: { readonly specifier: string; readonly folder: string; readonly resolved?: string },
): Promise<void> {
  for (const candidate of candidatesOf(found.specifier, found.folder)) {
    let target = places.get(candidate)
    if (target === undefined) {
      target = await leadsTo(candidate)
      places.set(candidate, target)
    }
    if (target === null || found.resolved === undefined) continue
    if (found.resolved === target || found.resolved.startsWith(target + path.sep)) return
  }
}
