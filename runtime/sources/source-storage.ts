/** Owns what a source keeps: one small file of JSON for each name, for its owner's eyes only. */

import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PluginError, type SourceStorage } from '@reveille/kit'
import { writeWhole } from '../write-whole.ts'

/** Each source has a folder in it, by its name. */
export function sourcesFolder(dataDir: string): string {
  return join(dataDir, 'sources')
}

/** The folder is made with the first value. */
export function createSourceStorage(folder: string): SourceStorage {
  /** The last write of each name, which the next one waits for. */
  const writing = new Map<string, Promise<void>>()
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

  return {
    async read(name) {
      const file = fileOf(folder, name)
      await writing.get(name)?.catch(() => {})
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
        // Without a cause: the words of the parser quote the file, and it may hold credentials.
        throw new PluginError(`${file} is damaged. Remove it, and set up anew what it held.`, {
          code: 'kept-damaged',
          retryable: false,
        })
      }
    },
    async write(name, value) {
      const file = fileOf(folder, name)
      const text = jsonText(file, value)
      const before = writing.get(name)
      const own = (async () => {
        await before?.catch(() => {})
        await writeDown(file, text)
      })()
      writing.set(name, own)
      try {
        await own
      } finally {
        if (writing.get(name) === own) writing.delete(name)
      }
    },
  }
}

/** Setup and a gateway write at the same time: in one draft, each would cut off what the other writes. */
async function writeDrafted(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.draft`
  try {
    await writeWhole(file, text, draft)
  } finally {
    await rm(draft, { force: true }).catch(() => undefined)
  }
}

/** No draft is written for longer. Milliseconds. */
const longestDraftMs = 60_000

/** What crashes left: it may be secret, and nobody writes it to its end. */
async function clearDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const draft of names.filter((name) => /^[a-z-]+\.json\.(?:[\da-f-]+\.)?draft$/.test(name))) {
    const file = join(folder, draft)
    const { mtimeMs = Number.POSITIVE_INFINITY } = await stat(file).catch(() => ({ mtimeMs: undefined }))
    if (Date.now() - mtimeMs > longestDraftMs) await rm(file, { force: true }).catch(() => undefined)
  }
}

/** A new name is on the disk once its folder is. Windows opens no folders, and its file systems keep names in order. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    // Its mode too: who made the folder before may have let others in.
    await handle.chmod(0o700)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function fileOf(folder: string, name: string): string {
  if (/^[a-z-]{1,60}$/.test(name)) return join(folder, `${name}.json`)
  throw new PluginError('What is kept is named with lower-case letters and hyphens.', {
    code: 'bad-request',
    retryable: false,
  })
}

function jsonText(file: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // The words of the error may quote the value; below there are others.
  }
  if (text !== undefined) return `${text}\n`
  throw new PluginError(`What is to be kept in ${file} is no JSON.`, {
    code: 'bad-request',
    retryable: false,
  })
}

function failed(what: string, cause: unknown): PluginError {
  const code = codeOf(cause)
  return new PluginError(`${what}${code === undefined ? '' : ` (${code})`}.`, {
    code: 'kept-failed',
    retryable: true,
    cause,
  })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
