/**
 * Migrates the store of a data folder: writes a backup, unless the migration only adds tables and columns, and brings the database
 * to the newest schema in one transaction. A process that is killed meanwhile leaves the old database as it was, and the next
 * start begins again.
 */

import { existsSync, statfsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Migration, StoreError } from '../../port.ts'
import { replaceBackup } from './backup.ts'
import { reasonOf } from './failure.ts'
import { databaseFile } from './folder.ts'
import { migrate, migrations, onlyAdds, schemaOf } from './migrations.ts'

export type OnMigration = (migration: Migration) => void

interface Options {
  readonly onMigration?: OnMigration
  /** Called after each step, which is committed with the others at the end. */
  readonly onStep?: (schema: number) => void
  /** Returns the free bytes of the folder's file system. */
  readonly freeBytes?: (folder: string) => number
}

/** Room for the backup, for the new tables beside the old ones, and for the log of the transaction. */
const timesTheSize = 3
const spareBytes = 64 * 1024 ** 2

/** @throws StoreError `SCHEMA_NEWER`; `STORE_FULL` if there is no room; `STORE_UNAVAILABLE` if the backup cannot be written */
export function migrateStore(
  db: DatabaseSync,
  folder: string,
  { onMigration = () => undefined, onStep, freeBytes = freeBytesOf }: Options = {},
): void {
  const [from, to] = [schemaOf(db), migrations.length]
  if (from === 0 || onlyAdds(from)) {
    migrate(db, migrations, undefined, onStep)
    return
  }
  const file = databaseFile(folder)
  refuseWithoutRoom(file, folder, freeBytes(folder))
  const backup = `${file}.schema-${from}`
  onMigration({ from, to, backup, done: 0, total: 0 })
  try {
    replaceBackup(file, backup)
  } catch (error) {
    const reason = `the backup ${backup}, which comes before the migration, cannot be written: ${reasonOf(error)}`
    throw new StoreError('STORE_UNAVAILABLE', reason, { cause: error })
  }
  migrate(db, migrations, (done, total) => onMigration({ from, to, backup, done, total }), onStep)
}

function refuseWithoutRoom(file: string, folder: string, free: number): void {
  const size = [file, `${file}-wal`].reduce(
    (sum, each) => sum + (existsSync(each) ? statSync(each).size : 0),
    0,
  )
  const needed = timesTheSize * size + spareBytes
  if (free >= needed) return
  throw new StoreError(
    'STORE_FULL',
    `this version keeps the store in another form: bringing ${file} into it needs ${mib(needed)} MiB in ${folder}, ` +
      `and ${mib(free)} MiB are free. Free some space, or start the version before this one again; nothing was changed`,
    { brief: 'no room for the migration of the store' },
  )
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2)
}
