/** Stores what a source writes: one small JSON file for each name, readable by its owner alone. */

import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type PluginError, permanentError, type SourceStorage, transientError } from '@reveille/kit'
import { createMutex } from '../mutex.ts'
import type { SourceValues } from '../store/port.ts'
import { writeWhole } from '../write-whole.ts'

/** Returns the folder that has one folder for each source, by its name. */
export function sourcesFolder(dataDir: string): string {
  return join(dataDir, 'sources')
}

/** The folder is created with the first value. */
export function createSourceStorage(folder: string): SourceStorage {
  const mutex = createMutex()
  let cleared: Promise<void> | undefined

  async function writeDown(file: string, text: string): Promise<void> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      cleared ??= clearDrafts(folder)
      await cleared
      await writeDrafted(file, text)
      await syncFolder(folder)
    } catch (cause) {
      throw failed(`${file} cannot be written`, cause)
    }
  }

  async function readBack(file: string): Promise<unknown> {
    let text: string
    try {
      text = await readFile(file, 'utf8')
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined
      throw failed(`${file} cannot be read`, cause)
    }
    try {
      return JSON.parse(text) as unknown
    } catch {
      // There is no cause: the parser's message quotes the file, which may hold credentials.
      throw permanentError('kept-damaged', `${file} is damaged. Remove it, and set up again what it held.`)
    }
  }

  return {
    async read(name) {
      const file = fileOf(folder, name)
      return mutex.run(name, () => readBack(file))
    },
    async write(name, value) {
      const file = fileOf(folder, name)
      const text = `${jsonOf(value, `What is to be kept in ${file}`)}\n`
      return mutex.run(name, () => writeDown(file, text))
    },
  }
}

/**
 * Stores values where all nodes find them. What lies in the folder of this machine, from the time before, is read as long as nothing
 * was written since.
 */
export function createSharedStorage(values: SourceValues): (source: string, folder: string) => SourceStorage {
  return (source, folder) => {
    const before = createSourceStorage(folder)
    const shared = async <Value>(name: string, use: () => Promise<Value>): Promise<Value> => {
      // The name is checked here as it is for a file.
      fileOf(folder, name)
      return use().catch((cause) => {
        throw failed(`${name} of the source ${source} cannot be kept in the database`, cause)
      })
    }
    return {
      async read(name) {
        const text = await shared(name, () => values.read(source, name))
        return text === undefined ? before.read(name) : (JSON.parse(text) as unknown)
      },
      write: (name, value) =>
        shared(name, () => values.write(source, name, jsonOf(value, `What is to be kept as ${name}`))),
    }
  }
}

/** One value that a source has stored, as JSON. */
interface StoredValue {
  readonly source: string
  readonly name: string
  readonly value: string
}

/** Copies the stored values of a data folder's sources to another place, or from there. */
export function createStoredValues(dataDir: string) {
  const root = sourcesFolder(dataDir)
  return {
    async read(): Promise<readonly StoredValue[]> {
      const sources = await readdir(root, { withFileTypes: true }).catch(() => [])
      const found: StoredValue[] = []
      for (const { name: source } of sources.filter((entry) => entry.isDirectory())) {
        const storage = createSourceStorage(join(root, source))
        const files = await readdir(join(root, source))
        for (const name of files.flatMap((file) => /^([a-z-]{1,60})\.json$/.exec(file)?.[1] ?? []).sort())
          found.push({ source, name, value: JSON.stringify(await storage.read(name)) })
      }
      return found
    },
    async write(values: readonly StoredValue[]): Promise<void> {
      for (const { source, name, value } of values)
        await createSourceStorage(join(root, source)).write(name, JSON.parse(value))
    },
  }
}

/** Writes into a draft of its own, because setup and a gateway may write at the same time. */
async function writeDrafted(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.draft`
  try {
    await writeWhole(file, text, draft)
  } finally {
    await rm(draft, { force: true }).catch(() => undefined)
  }
}

/** A draft that is older is left from a crash. Milliseconds. */
const maxDraftMs = 60_000

/** Removes drafts that crashes left, because they may hold secrets. */
async function clearDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const draft of names.filter((name) => /^[a-z-]+\.json\.(?:[\da-f-]+\.)?draft$/.test(name))) {
    const file = join(folder, draft)
    const { mtimeMs = Number.POSITIVE_INFINITY } = await stat(file).catch(() => ({ mtimeMs: undefined }))
    if (Date.now() - mtimeMs > maxDraftMs) await rm(file, { force: true }).catch(() => undefined)
  }
}

/** Puts new names on the disk. Windows cannot open folders, and its file systems keep names in order. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    // This sets the mode too: the folder may have been created with a wider one.
    await handle.chmod(0o700)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function fileOf(folder: string, name: string): string {
  if (/^[a-z-]{1,60}$/.test(name)) return join(folder, `${name}.json`)
  throw permanentError('bad-request', 'What is kept is named with lower-case letters and hyphens.')
}

/** @throws PluginError which begins with `what` and quotes nothing of the value */
export function jsonOf(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // The error below says it.
  }
  if (text !== undefined) return text
  throw permanentError('bad-request', `${what} is no JSON.`)
}

function failed(what: string, cause: unknown): PluginError {
  const code = codeOf(cause)
  return transientError('kept-failed', `${what}${code === undefined ? '' : ` (${code})`}.`, { cause })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
