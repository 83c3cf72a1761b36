/** `reveille store backup`, `export` and `import`: copies the store, and moves one that no gateway uses into another database. */

import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Settings } from '@reveille/engine'
import type { Driver } from '@reveille/kit'
import { createStoredValues } from '../../sources/index.ts'
import { isDatabase, openDriver } from '../../store/driver-package.ts'
import { StoreError } from '../../store/port.ts'
import { backupSqliteStore } from '../../store/sqlite/index.ts'
import { openOffline } from '../../store/sqlite/offline.ts'
import { exportStore, importStore, type RowCounts, type TransferOptions } from '../../store/transfer.ts'
import { badUsage, failure, sentence, storeFailure } from '../command-failure.ts'
import { loadOrFail } from '../configuration.ts'
import type { Io } from '../io.ts'
import { counted, createBar, print, shellWord } from '../print.ts'

export async function storeBackup(target: string, io: Io): Promise<number> {
  const file = path.resolve(io.cwd, target)
  const { settings } = await loadOrFail(io)
  const { dataDir: location, store } = settings.gateway
  if (isDatabase(store)) throw failure(useDump(store, target))
  // The copy is one call of SQLite, which says nothing meanwhile.
  if (io.columns !== undefined && !io.json) io.err(`Copying the store of ${location} …\n`)
  try {
    await backupSqliteStore({ location, file })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw failure(sentence(error.message), { cause: error })
  }
  return print(io, { file, location }, () => `Copied the store of ${location} to ${target}.`)
}

/** Says how PostgreSQL's own program copies the store. It asks for the password, or takes it from PGPASSWORD or ~/.pgpass. */
export function useDump(store: string, target: string): string {
  const address = store.replace(/^([^/]*\/\/[^:@/]*):.*@/, '$1@')
  const command = ['pg_dump', '--format', 'custom', '--schema', 'reveille', '--file', target, address]
  return `The store is in PostgreSQL, whose own program copies it, also while gateways run:\n${command.map(shellWord).join(' ')}`
}

export async function storeExport(target: string, io: Io): Promise<number> {
  const isOutput = target === '-'
  if (isOutput && io.json) throw badUsage('With --json the export needs a file.')
  return await transfer(io, false, async (driver, moving) => {
    if (isOutput) {
      await exportStore(driver, (line) => io.out(line), moving)
      return undefined
    }
    const counts = await writeFile(path.resolve(io.cwd, target), (write) =>
      exportStore(driver, write, moving),
    )
    return { file: path.resolve(io.cwd, target), counts, done: 'Exported', where: `to ${target}` }
  })
}

export async function storeImport(source: string, io: Io): Promise<number> {
  const file = path.resolve(io.cwd, source)
  if (source !== '-') await checkReadable(file)
  let isRead = false
  const chunks = () => {
    if (source !== '-') return createReadStream(file)
    // The database may undo the transaction and ask for the lines again.
    if (isRead)
      throw failure(
        'The database undid the import, and standard input cannot be read again: import from a file.',
      )
    isRead = true
    return io.inputChunks?.() ?? []
  }
  return await transfer(io, true, async (driver, moving) => {
    const counts = await importStore(driver, () => linesOf(chunks()), moving)
    const [shown, where] = source === '-' ? ['-', 'from standard input'] : [file, `from ${source}`]
    return { file: shown, counts, done: 'Imported', where }
  })
}

interface Transferred {
  readonly file: string
  readonly counts: RowCounts
  readonly done: string
  readonly where: string
}

async function transfer(
  io: Io,
  creates: boolean,
  move: (driver: Driver, moving: TransferOptions) => Promise<Transferred | undefined>,
): Promise<number> {
  const { settings } = await loadOrFail(io)
  const bar = createBar(io.json ? { ...io, columns: undefined } : io)
  const onProgress = (done: number, total: number) =>
    bar.show(done, total, `${Math.floor((100 * done) / Math.max(1, total))} % of ${total} rows`)
  let driver: Driver | undefined
  try {
    driver = await openStore(settings, creates, io)
    const { dataDir, store } = settings.gateway
    const outside = isDatabase(store) ? undefined : createStoredValues(dataDir)
    const made = await move(driver, { onProgress, ...(outside && { outside }) })
    bar.clear()
    if (made === undefined) return 0
    const { file, counts, done, where } = made
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const parts = `${counted(counts['requests'] ?? 0, 'request')} and ${counted(counts['runs'] ?? 0, 'run')}`
    const text = `${done} ${counted(total, 'row')} ${where}, among them ${parts}.`
    return print(io, { file, counts }, () => text)
  } catch (error) {
    bar.clear()
    throw error instanceof StoreError ? storeFailure(error) : error
  } finally {
    await driver?.close()
  }
}

async function openStore({ file, gateway }: Settings, creates: boolean, io: Io): Promise<Driver> {
  const { dataDir, store } = gateway
  if (isDatabase(store)) return await openDriver({ location: store, configFile: file })
  return openOffline({ location: dataDir, creates, now: io.now })
}

/** Writes a new file, for its owner alone, and removes it where it could not be filled. What a crash cuts short is no import. */
async function writeFile<Made>(
  file: string,
  fill: (write: (text: string) => Promise<void>) => Promise<Made>,
): Promise<Made> {
  await using handle = await open(file, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    const isTaken = cause.code === 'EEXIST'
    throw failure(
      isTaken
        ? `${file} exists already: name a file that does not.`
        : `${file} cannot be written: ${cause.message}.`,
      { cause },
    )
  })
  try {
    const made = await fill(async (text) => void (await handle.appendFile(text)))
    await handle.sync()
    return made
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

/** Splits at line feeds alone: texts may hold other separators of lines. */
async function* linesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
  if (rest !== '') yield rest
}

/** @throws CommandFailure */
async function checkReadable(file: string): Promise<void> {
  try {
    await (await open(file)).close()
  } catch (cause) {
    throw failure(`${file} cannot be read: ${(cause as Error).message}.`, { cause })
  }
}
