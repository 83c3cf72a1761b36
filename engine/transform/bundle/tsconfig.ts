/** Owns reading a tsconfig.json as far as bundling must know it: the files that it extends, and how it wants code made. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { hashText, isAbsent } from './file-hash.ts'

export interface Tsconfig {
  /** SHA-256 by path, of it and of all that it extends; null for one that is missing. */
  readonly files: ReadonlyMap<string, string | null>
  /** Those that change the code that is made of a file, merged. */
  readonly compilerOptions: Readonly<Record<string, unknown>>
}

const codeOptions = new Set([
  'experimentalDecorators',
  'useDefineForClassFields',
  'verbatimModuleSyntax',
  'target',
  'jsx',
  'jsxFactory',
  'jsxFragmentFactory',
  'jsxImportSource',
])

/** Never rejects: what is wrong with a file is the bundler's to say. */
export async function readTsconfig(file: string): Promise<Tsconfig> {
  const files = new Map<string, string | null>()
  const compilerOptions: Record<string, unknown> = {}
  await read(file, files, compilerOptions)
  return { files, compilerOptions }
}

async function read(
  file: string,
  files: Map<string, string | null>,
  options: Record<string, unknown>,
): Promise<void> {
  if (files.has(file)) return
  files.set(file, null)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return
    throw error
  }
  files.set(file, hashText(text))
  const value = parseJsonWithComments(text)
  const parents = [value['extends']].flat().filter((parent) => typeof parent === 'string')
  for (const parent of parents) await read(parentFile(parent, file), files, options)
  for (const [key, option] of Object.entries(value['compilerOptions'] ?? {}))
    if (codeOptions.has(key)) options[key] = option
}

function parentFile(parent: string, file: string): string {
  if (/^\.{0,2}\//.test(parent) || path.isAbsolute(parent)) {
    const target = path.resolve(path.dirname(file), parent)
    return target.endsWith('.json') ? target : `${target}.json`
  }
  const { resolve } = createRequire(file)
  for (const name of [parent, `${parent}.json`, `${parent}/tsconfig.json`]) {
    try {
      const found = resolve(name)
      if (found.endsWith('.json')) return found
    } catch {
      // Not called so.
    }
  }
  return path.join(path.dirname(file), 'node_modules', parent)
}

/** Without comments and trailing commas; an empty object for what is no object then. */
export function parseJsonWithComments(text: string): Record<string, unknown> {
  const bare = text
    .replace(/^\ufeff/, '')
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])/g, '$1')
  try {
    const value: unknown = JSON.parse(bare)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
