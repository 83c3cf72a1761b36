/** Lists the paths where an import may be found, and the package.json and tsconfig.json files that apply to a file. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

export const scriptExtensions = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']
/** The order in which extensions are tried for a name without one. */
export const resolvedExtensions = [...scriptExtensions, '.json']

/** The TypeScript sources that an import of a JavaScript file may mean. */
const sourcesOf: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx', '.ts'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
}

export function isPackaged(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`)
}

/** The folder of the package that a file is part of; the file is one of a package. */
export function packageFolderOf(file: string): string {
  const at = file.lastIndexOf(`${path.sep}node_modules${path.sep}`) + '/node_modules/'.length
  const name = packageOf(file.slice(at).split(path.sep).join('/'))
  return file.slice(0, at) + name.split('/').join(path.sep)
}

export function isRelative(specifier: string): boolean {
  return /^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..' || path.isAbsolute(specifier)
}

/** Returns the package of a name: `@scope/name/part` belongs to `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Yields the paths where an import in a file of `folder` may be found. esbuild takes the first that exists. */
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

/** Yields the folder and all folders above it. */
export function* foldersFrom(folder: string): Iterable<string> {
  for (let current = folder; ; current = path.dirname(current)) {
    yield current
    if (current === path.dirname(current)) return
  }
}

/**
 * Yields the folders whose package.json or tsconfig.json can apply to a file. A package's file depends on nothing above
 * its package.
 */
export function* governingFolders(file: string): Iterable<string> {
  for (const folder of foldersFrom(path.dirname(file))) {
    yield folder
    if (path.basename(path.dirname(folder)) === 'node_modules') return
  }
}

/** Returns the version and type in the nearest package.json above a file. */
export async function nearestPackage(file: string): Promise<{ version?: unknown; type?: unknown }> {
  for (const folder of governingFolders(file)) {
    const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    try {
      return JSON.parse(text) ?? {}
    } catch {
      return {}
    }
  }
  return {}
}

/** Returns the files that a tsconfig.json extends. One in a comment is listed too, which does no harm. */
export function extendedBy(tsconfig: string, text: string): readonly string[] {
  const [, value = ''] = /"extends"\s*:\s*(\[[^\]]*\]|"[^"]*")/.exec(text) ?? []
  return [...value.matchAll(/"([^"]+)"/g)].map(([, parent = '']) => extendedFile(parent, tsconfig))
}

function extendedFile(parent: string, tsconfig: string): string {
  if (isRelative(parent)) {
    const target = path.resolve(path.dirname(tsconfig), parent)
    return target.endsWith('.json') ? target : `${target}.json`
  }
  const { resolve } = createRequire(tsconfig)
  for (const name of [parent, `${parent}.json`, `${parent}/tsconfig.json`]) {
    try {
      const found = resolve(name)
      if (found.endsWith('.json')) return found
    } catch {
      // The package has no file of this name.
    }
  }
  return path.join(path.dirname(tsconfig), 'node_modules', parent)
}
