/** One connection of the writer: opened, migrated, and with everything prepared that works on it. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../port.ts'
import { createCommands, type RunCommand } from '../commands/commands.ts'
import { databaseFile } from '../database/folder.ts'
import { migrate } from '../database/migrations.ts'
import { type Accepting, createAccepting } from '../records/accepting.ts'
import type { NoteChange } from '../records/change-list.ts'
import { createCoalescing } from '../records/coalescing.ts'
import { type Counters, readCounters } from '../records/counters.ts'
import { createDeliveries } from '../records/deliveries.ts'
import { type ApplyEffects, createEffects } from '../records/effects.ts'
import { createLoading, type LoadWork } from '../records/loading.ts'
import { createRuns } from '../records/runs.ts'
import { createRetention, type Retention } from '../retention/retention.ts'
import { createSchedule, type Schedule } from '../schedule/schedule.ts'
import type { WriterData } from './protocol.ts'

export interface WriterConnection {
  readonly db: DatabaseSync
  readonly counters: Counters
  readonly schedule: Schedule
  readonly accepting: Accepting
  readonly applyEffects: ApplyEffects
  readonly loadWork: LoadWork
  readonly retention: Retention
  readonly runCommand: RunCommand
  /** The clock was set back to `now`, by `ms` milliseconds. */
  shift(ms: number, now: number): void
  begin(): void
  commit(): void
  /** Undoes everything since `begin`, if SQLite has not done so by itself. */
  rollback(): void
  /** Runs a function inside a savepoint of its own. If it throws, only what it did is undone. */
  nested(run: () => void): void
  /** Counts the commit, as part of every transaction, so that an unknown outcome is settled by reading the number. */
  countCommit(): void
  /** Writes and deletes a row, to find out whether writing works. */
  probe(): void
  close(): void
}

/** The limits in `data` are read whenever they matter, because a reload changes them. */
export function openWriterConnection(data: WriterData, changed: NoteChange): WriterConnection {
  const file = databaseFile(data.folder)
  // SQLite would create a new file, and a store that has lost everything would seem to work.
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `the database ${file} is gone`)
  const db = new DatabaseSync(file, { timeout: 5_000 })
  try {
    // FULL: a commit is on the disk before it is answered. A checkpoint runs at 16 MiB of log. A long read lets the log grow,
    // and it shrinks to 64 MiB afterwards.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
    )
    migrate(db)
    return prepareConnection(db, data, changed)
  } catch (error) {
    db.close()
    throw error
  }
}

function prepareConnection(db: DatabaseSync, data: WriterData, changed: NoteChange): WriterConnection {
  const counters = readCounters(db)
  const schedule = createSchedule(db, counters)
  const coalescing = createCoalescing(db, schedule)
  const runs = createRuns(db, changed)
  const deliveries = createDeliveries(db, changed)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const savepoint = db.prepare('SAVEPOINT entry')
  const release = db.prepare('RELEASE entry')
  const rollbackTo = db.prepare('ROLLBACK TO entry')
  const updateCommitNumber = db.prepare('UPDATE pulse SET commits = ?, sequence = ?')
  const putWeight = db.prepare('INSERT INTO probe VALUES (zeroblob(65536))')
  const takeWeight = db.prepare('DELETE FROM probe')

  return {
    db,
    counters,
    schedule,
    accepting: createAccepting({
      db,
      counters,
      schedule,
      runs,
      coalescing,
      changed,
      limits: data,
      bounds: data,
    }),
    applyEffects: createEffects({ db, counters, schedule, runs, deliveries, changed }),
    loadWork: createLoading(db, counters, data.historyMessages),
    retention: createRetention(db, counters, data),
    runCommand: createCommands({ db, counters, schedule, runs, coalescing, deliveries, limits: data }),
    shift(ms, now) {
      schedule.shift(ms)
      coalescing.shift(ms, now)
    },
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    rollback() {
      if (db.isTransaction) db.exec('ROLLBACK')
    },
    nested(run) {
      savepoint.run()
      try {
        run()
        release.run()
      } catch (error) {
        if (db.isTransaction) {
          rollbackTo.run()
          release.run()
        }
        throw error
      }
    },
    countCommit() {
      counters.commits += 1
      updateCommitNumber.run(counters.commits, counters.sequence)
    },
    probe() {
      putWeight.run()
      takeWeight.run()
    },
    close: () => db.close(),
  }
}
