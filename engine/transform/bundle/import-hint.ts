/** Gives a hint for an import that is not found: a similar file name, or what to install where. */

import { readdir } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { nearestName } from '../../config/values/nearest.ts'
import { authorsTypesName } from './sources-plugin.ts'

/** The folders that appear in hints. */
export interface HintFolders {
  /** The configuration's folder, to which other folders are shown relative. */
  readonly shownFrom: string
  /** The folder of the transforms. */
  readonly root: string
}

/** @param folder the folder of the importing file */
export async function hintForImport(
  specifier: string,
  folder: string,
  { shownFrom, root }: HintFolders,
): Promise<string> {
  if (isRelative(specifier)) return hintForFile(specifier, folder, shownFrom)
  if (specifier.startsWith('#'))
    return 'Names with `#` are defined under `imports` in the nearest package.json.'
  if (specifier.startsWith('@reveille/')) return `Transforms import \`${authorsTypesName}\`.`
  const builtin = nearestName(specifier.replace(/^node:/, ''), builtinModules)
  const isBuiltin = specifier.startsWith('node:') || builtinModules.includes(packageOf(specifier))
  if (isBuiltin) return builtin === undefined ? 'Node.js has no such module.' : `Did you mean \`${builtin}\`?`
  // For a transforms folder outside of the configuration's, Node.js searches that folder and those above it.
  const home = isWithin(folder, shownFrom) ? shownFrom : root
  // Without the prefix, npm would use a package.json further up, and change a folder that does not belong to the operator.
  const install = `Run \`npm install --prefix . ${packageOf(specifier)}\` in ${shown(home, shownFrom)}.`
  return builtin === undefined ? install : `${install} If a module of Node.js was meant: \`node:${builtin}\`.`
}

function isWithin(folder: string, top: string): boolean {
  const relative = path.relative(top, folder)
  return !relative.startsWith('..') && !path.isAbsolute(relative)
}

async function hintForFile(specifier: string, folder: string, shownFrom: string): Promise<string> {
  const target = path.resolve(folder, specifier)
  const below = path.dirname(target)
  const names = await readdir(below).catch(() => undefined)
  if (names === undefined) return `There is no folder ${shown(below, shownFrom)}.`
  const near = nearestFile(path.basename(target), names)
  if (near !== undefined)
    return `Did you mean \`${specifier.slice(0, specifier.lastIndexOf('/') + 1)}${near}\`?`
  return `There is no such file in ${shown(below, shownFrom)}.`
}

/** Returns the candidate that was probably meant. Its extension does not count: `.ts` in common makes no names alike. */
export function nearestFile(name: string, candidates: readonly string[]): string | undefined {
  const extension = path.extname(name)
  // Of two with the same name, the one with the same extension is meant.
  const sorted = candidates.toSorted(
    (one, other) => Number(one.endsWith(extension)) - Number(other.endsWith(extension)),
  )
  const bare = new Map(sorted.map((each) => [bareName(each), each]))
  return bare.get(nearestName(bareName(name), bare.keys()) ?? '')
}

function bareName(name: string): string {
  return name.slice(0, name.length - path.extname(name).length)
}

function shown(folder: string, shownFrom: string): string {
  const relative = path.relative(shownFrom, folder)
  if (relative === '') return 'the folder of the configuration'
  return relative.startsWith('..') ? folder : `\`${relative.split(path.sep).join('/')}\``
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

/** Yields the folder and all folders above it. */
export function* foldersFrom(folder: string): Iterable<string> {
  for (let current = folder; ; current = path.dirname(current)) {
    yield current
    if (current === path.dirname(current)) return
  }
}
