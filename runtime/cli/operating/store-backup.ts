/** `reveille store backup`: copies the store of a gateway, running or not. */

import path from 'node:path'
import { isDatabase } from '../../store/driver-package.ts'
import { StoreError } from '../../store/port.ts'
import { backupSqliteStore } from '../../store/sqlite/index.ts'
import { CommandFailure, sentence } from '../command-failure.ts'
import { loadOrFail } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { shellWord } from '../pasted.ts'

export async function storeBackup(target: string, options: CommandOptions, io: Io): Promise<number> {
  const file = path.resolve(io.cwd, target)
  const { settings } = await loadOrFail(options, io)
  const { dataDir: location, store } = settings.gateway
  if (isDatabase(store)) throw new CommandFailure(1, useDump(store, target))
  // The copy is one call of SQLite, which says nothing meanwhile.
  if (io.columns !== undefined && !options.json) io.err(`Copying the store of ${location} …\n`)
  try {
    await backupSqliteStore({ location, file })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new CommandFailure(1, sentence(error.message), { cause: error })
  }
  io.out(
    options.json
      ? `${JSON.stringify({ file, location })}\n`
      : `Copied the store of ${location} to ${target}.\n`,
  )
  return 0
}

/** Says how PostgreSQL's own program copies the store. It asks for the password, or takes it from PGPASSWORD or ~/.pgpass. */
export function useDump(store: string, target: string): string {
  const address = store.replace(/^([^/]*\/\/[^:@/]*):.*@/, '$1@')
  const command = ['pg_dump', '--format', 'custom', '--schema', 'reveille', '--file', target, address]
  return `The store is in PostgreSQL, whose own program copies it, also while gateways run:\n${command.map(shellWord).join(' ')}`
}
