/** Writes the first configuration of a new gateway: a folder made from the template and the samples beside this file. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packageFile } from '../package-folder.ts'

export interface Scaffolded {
  /** Relative to the folder, sorted; empty when there was a configuration. */
  readonly written: readonly string[]
  /** True if lines were added to an existing `.gitignore`. */
  readonly ignored: boolean
}

const configurationFile = 'reveille.yaml'

/** Names in a configuration's folder that are never committed. */
const ignoredNames = ['.env', 'data/', 'node_modules/']

/**
 * Fills an absolute folder. Writes nothing where there is a configuration, and never over a file. The configuration is written last, so
 * that after a crash the command can run again.
 */
export async function scaffold(folder: string): Promise<Scaffolded> {
  const written: string[] = []
  if (existsSync(path.join(folder, configurationFile))) return { written, ignored: false }
  const files = [...(await filesIn('samples', 'samples')), ...(await filesIn('template'))]
  const ordered = files.sort(
    (one, other) => Number(one.to === configurationFile) - Number(other.to === configurationFile),
  )
  const create = async (to: string, content: string | Uint8Array, mode?: number) => {
    const isNew = await createFile(path.join(folder, to), content, mode)
    if (isNew) written.push(to)
    return isNew
  }
  // Files that are never committed are ignored before they exist.
  const ignored = !(await create('.gitignore', ignoreLines(ignoredNames)))
  const wasAdded = ignored && (await addIgnored(path.join(folder, '.gitignore')))
  await create('.env', secrets(), 0o600)
  for (const { from, to } of ordered) await create(to, await readFile(from))
  return { written: written.sort(), ignored: wasAdded }
}

async function filesIn(name: string, under = '') {
  const folder = packageFile('scaffold', name)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((from) => ({ from, to: path.join(under, path.relative(folder, from)) }))
}

/** Writes a new file, and the folder for it. @returns false where it is there already, and stays as it is */
export async function createFile(file: string, content: string | Uint8Array, mode = 0o666): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true })
  try {
    await writeFile(file, content, { flag: 'wx', mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Appends the lines that the file lacks. */
async function addIgnored(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8')
  const existingLines = new Set(text.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, '')))
  const missing = ignoredNames.filter((name) => !existingLines.has(name.replace(/\/$/, '')))
  if (missing.length === 0) return false
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${ignoreLines(missing)}`)
  return true
}

function ignoreLines(names: readonly string[]): string {
  return `# Of the Reveille gateway: its secrets, its data and its packages.\n${names.join('\n')}\n`
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
