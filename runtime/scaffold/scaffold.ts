/** Writes the first configuration of a new gateway: a folder made from the template beside this file. */

import { randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, cp, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'

export interface ScaffoldOptions {
  /** Absolute. */
  readonly folder: string
  /** The folder that is copied; absolute. */
  readonly template: string
  /** Default: 32 random bytes as base64url. */
  readonly mintToken?: () => string
}

export interface Scaffolded {
  /** Relative to the folder, sorted; empty when there was a configuration. */
  readonly written: readonly string[]
}

const configurationFile = 'reveille.yaml'

/**
 * Writes nothing where there is a configuration, and never over a file. A new folder appears whole or not
 * at all; in an existing one the configuration is written last, so that after a crash the command can run again.
 */
export async function scaffold(options: ScaffoldOptions): Promise<Scaffolded> {
  const { folder, template, mintToken = randomToken } = options
  if (await exists(path.join(folder, configurationFile))) return { written: [] }
  const next = `${folder}.${randomUUID()}.next`
  try {
    await mkdir(path.dirname(folder), { recursive: true })
    await cp(template, next, { recursive: true })
    await writeFile(path.join(next, '.env'), secrets(mintToken), { mode: 0o600 })
    const files = await filesOf(next)
    const moved = !(await exists(folder)) && (await moveWhole(next, folder))
    return { written: moved ? files : await copyMissing(next, folder, files) }
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

function secrets(mintToken: () => string): string {
  return [
    '# The secrets of this gateway; reveille.yaml names them. Never commit this file.',
    '# For those who post to /hooks:',
    `REVEILLE_HOOK_TOKEN=${mintToken()}`,
    '# For the admin surface, yours alone:',
    `REVEILLE_GATEWAY_TOKEN=${mintToken()}`,
    '',
  ].join('\n')
}

function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()
}

async function moveWhole(next: string, folder: string): Promise<boolean> {
  try {
    await rename(next, folder)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EPERM') return false
    throw error
  }
}

async function copyMissing(next: string, folder: string, files: readonly string[]): Promise<string[]> {
  const written: string[] = []
  const configurationLast = [...files.filter((file) => file !== configurationFile), configurationFile]
  for (const file of configurationLast) {
    const target = path.join(folder, file)
    await mkdir(path.dirname(target), { recursive: true })
    try {
      await copyFile(path.join(next, file), target, constants.COPYFILE_EXCL)
      written.push(file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return written.sort()
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
