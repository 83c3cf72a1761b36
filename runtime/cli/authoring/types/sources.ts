/** Owns which files of a folder of transforms a compiler is given. */

import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** Scripts, relative to the folder with `/`, sorted; those of packages and of hidden folders left out. */
export async function listSources(folder: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries) {
    const { name } = entry
    if (name.startsWith('.') || name === 'node_modules') continue
    if (entry.isDirectory()) found.push(...(await listSources(folder, `${below}${name}/`)))
    else if (/\.[cm]?[jt]sx?$/.test(name)) found.push(below + name)
  }
  return found.sort()
}

/** Whether a mapping that says `module` means this file. */
export function isNamed(source: string, named: ReadonlySet<string>): boolean {
  const bare = source.replace(/\.[^./]+$/, '')
  return named.has(source) || named.has(bare) || named.has(bare.replace(/\/index$/, ''))
}

export function isTypeScript(source: string): boolean {
  return /\.[cm]?tsx?$/.test(source)
}
