/** Finds the file of a module's name, and checks that it lies within the transforms folder after links are resolved. */

import { glob, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { nearestFile } from './import-hint.ts'

export type ModuleFile =
  | {
      readonly ok: true
      /** The path with links resolved. */
      readonly entry: string
      /** Paths whose change may make the name refer to another file. */
      readonly watched: readonly string[]
    }
  | {
      readonly ok: false
      readonly code: 'TRANSFORM_NOT_FOUND' | 'TRANSFORM_OUTSIDE' | 'TRANSFORM_SOURCE'
      readonly message: string
      readonly hint: string
      readonly watched: readonly string[]
    }

const extensions = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']
const isScript = (file: string) => /\.[cm]?[jt]sx?$/.test(file)

/** @param transformsDir the configured folder, for watching; `root` is the same with links resolved */
export async function findModuleFile(
  module: string,
  transformsDir: string,
  root: string,
): Promise<ModuleFile> {
  if (path.isAbsolute(module) || /^[a-z]+:/i.test(module) || module.split('/').includes('..')) {
    return {
      ok: false,
      code: 'TRANSFORM_OUTSIDE',
      message: `the transform \`${module}\` is outside of the transforms folder`,
      hint: `Name a file below ${transformsDir}, relative to it.`,
      watched: [],
    }
  }
  const tried: string[] = []
  for (const candidate of candidatesOf(module)) {
    tried.push(path.join(transformsDir, candidate))
    const entry = await resolveLinks(path.join(root, candidate))
    if (entry === undefined || !(await stat(entry)).isFile()) continue
    if (!entry.startsWith(root + path.sep)) return linkedOutside(module, entry, tried)
    if (!isScript(entry)) return noScript(module, tried)
    return { ok: true, entry, watched: [...tried, entry] }
  }
  return {
    ok: false,
    code: 'TRANSFORM_NOT_FOUND',
    message: `there is no transform \`${module}\` in ${transformsDir}`,
    hint: await hintFor(module, root),
    watched: tried,
  }
}

function* candidatesOf(module: string): Iterable<string> {
  yield module
  if (isScript(module)) return
  for (const extension of extensions) yield module + extension
  for (const extension of extensions) yield path.join(module, `index${extension}`)
}

function linkedOutside(module: string, entry: string, watched: readonly string[]): ModuleFile {
  return {
    ok: false,
    code: 'TRANSFORM_OUTSIDE',
    message: `the transform \`${module}\` is a link to ${entry}, outside of the transforms folder`,
    hint: 'Put the file itself there; what it imports may lie anywhere.',
    watched,
  }
}

function noScript(module: string, watched: readonly string[]): ModuleFile {
  return {
    ok: false,
    code: 'TRANSFORM_SOURCE',
    message: `the transform \`${module}\` is neither JavaScript nor TypeScript`,
    hint: `Name a file that ends in ${extensions.join(', ')}.`,
    watched,
  }
}

/** Returns undefined for a missing path or a broken link. */
export async function resolveLinks(file: string): Promise<string | undefined> {
  try {
    return await realpath(file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined
    throw error
  }
}

async function hintFor(module: string, root: string): Promise<string> {
  const isOther = (name: string) => name === 'node_modules' || name.startsWith('.')
  const names: string[] = []
  for await (const name of glob('**/*', { cwd: root, exclude: isOther }))
    if (isScript(name) && !/\.(?:test|d)\.\w+$/.test(name)) names.push(name)
  names.sort()
  const near = nearestFile(module, names)
  if (near !== undefined) return `Did you mean \`${near}\`?`
  const first = `Write it with \`reveille init transform ${path.basename(module, path.extname(module))}\`.`
  return names.length === 0 ? first : `There are ${names.slice(0, 10).join(', ')}. ${first}`
}
