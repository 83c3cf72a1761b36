/** `reveille store copy`: copies a store that no gateway uses into an empty one. */

import path from 'node:path'
import { createStoredValues } from '../../sources/index.ts'
import { type CopySource, type CopyTarget, copyStore, type StoredValues } from '../../store/copying.ts'
import { StoreError } from '../../store/port.ts'
import { CommandFailure, storeFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { createBar } from '../progress-bar.ts'

interface CopyOptions extends CommandOptions {
  readonly from: string
  readonly to: string
}

export async function storeCopy({ from, to, json = false }: CopyOptions, io: Io): Promise<number> {
  // A database would wait for itself.
  if (from === to) throw new CommandFailure(2, '--from and --to name the same store.')
  const bar = createBar(json ? { ...io, columns: undefined } : io)
  let source: CopySource | undefined
  let target: CopyTarget | undefined
  try {
    source = await openSource(from, io)
    target = await openTarget(to, io)
    const kinds = await copyStore(source, target, (done, total) =>
      bar.show(done, total, `${Math.floor((100 * done) / Math.max(1, total))} % of ${total / 2} records`),
    )
    bar.clear()
    const names = { from: source.name, to: target.name }
    if (json) io.out(`${JSON.stringify({ ...names, kinds }, null, 2)}\n`)
    else {
      const total = kinds.reduce((sum, { count }) => sum + count, 0)
      const runs = kinds.find(({ kind }) => kind === 'runs')?.count ?? 0
      const requests = kinds.find(({ kind }) => kind === 'requests')?.count ?? 0
      io.out(
        `Copied ${counted(total, 'record')} from ${names.from} to ${names.to}, among them ${counted(requests, 'request')} and ${counted(runs, 'run')}. What was written is what was read.\n`,
      )
    }
    return 0
  } catch (error) {
    bar.clear()
    if (!(error instanceof StoreError)) throw error
    throw storeFailure(error)
  } finally {
    await target?.close()
    await source?.close()
  }
}

export function isDatabase(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location)
}

async function openSource(location: string, io: Io): Promise<CopySource> {
  if (isDatabase(location))
    return (await import('../../store/postgres/copying.ts')).openPostgresSource(location)
  const folder = path.resolve(io.cwd, location)
  const { openSqliteSource } = await import('../../store/sqlite/copying.ts')
  return openSqliteSource(folder, storedValues(folder))
}

async function openTarget(location: string, io: Io): Promise<CopyTarget> {
  if (isDatabase(location))
    return (await import('../../store/postgres/copying.ts')).openPostgresTarget(location)
  const folder = path.resolve(io.cwd, location)
  const { openSqliteTarget } = await import('../../store/sqlite/copying.ts')
  return openSqliteTarget(folder, storedValues(folder))
}

function storedValues(folder: string): StoredValues {
  const { read, write } = createStoredValues(folder)
  return {
    read: async () => (await read()).map((value) => ({ ...value })),
    write: (rows) => write(rows as never),
  }
}
