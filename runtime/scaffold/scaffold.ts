/** Writes the first configuration of a new gateway: a folder made from the template beside this file. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

export interface ScaffoldOptions {
  /** Absolute. */
  readonly folder: string
  /** The folder that is copied; absolute. */
  readonly template: string
}

export interface Scaffolded {
  /** Relative to the folder, sorted; empty when there was a configuration. */
  readonly written: readonly string[]
}

const configurationFile = 'reveille.yaml'

/**
 * Writes nothing where there is a configuration, and never over a file. The configuration is written last, so that after a
 * crash the command can run again.
 */
export async function scaffold({ folder, template }: ScaffoldOptions): Promise<Scaffolded> {
  const written: string[] = []
  if (existsSync(path.join(folder, configurationFile))) return { written }
  const entries = await readdir(template, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(template, path.join(entry.parentPath, entry.name)))
    .filter((file) => file !== configurationFile)
  for (const file of ['.env', ...files, configurationFile]) {
    const target = path.join(folder, file)
    const content = file === '.env' ? secrets() : await readFile(path.join(template, file))
    await mkdir(path.dirname(target), { recursive: true })
    try {
      await writeFile(target, content, { flag: 'wx', mode: file === '.env' ? 0o600 : 0o666 })
      written.push(file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return { written: written.sort() }
}

function secrets(): string {
  return [
    '# The secrets of this gateway; reveille.yaml names them. Never commit this file.',
    '# For those who post to /hooks:',
    `REVEILLE_HOOK_TOKEN=${randomToken()}`,
    '# For the admin surface, yours alone:',
    `REVEILLE_GATEWAY_TOKEN=${randomToken()}`,
    '',
  ].join('\n')
}

function randomToken(): string {
  return randomBytes(32).toString('base64url')
}
