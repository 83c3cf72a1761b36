/** Owns one connection of the writer: opened, migrated, with everything prepared that works on it. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../port.ts'
import { type Accepting, createAccepting } from './accepting.ts'
import { type Cancelling, createCancelling } from './cancelling.ts'
import type { NoteChange } from './change-list.ts'
import { createDeliveries } from './deliveries.ts'
import { type ApplyEffects, createEffects } from './effects.ts'
import { databaseFile } from './folder.ts'
import { createJoining } from './joining.ts'
import { createLoading, type LoadWork } from './loading.ts'
import { migrate } from './migrations.ts'
import type { WriterData } from './protocol.ts'
import { createRetention, type Retention } from './retention.ts'
import { createRouting, type Routing } from './routing.ts'
import { createSchedule, type Schedule } from './schedule.ts'
import { createSending, type Sending } from './sending.ts'
import { readTally, type Tally } from './tally.ts'

export interface Desk {
  readonly db: DatabaseSync
  readonly tally: Tally
  readonly schedule: Schedule
  readonly accepting: Accepting
  readonly applyEffects: ApplyEffects
  readonly loadWork: LoadWork
  readonly retention: Retention
  readonly routing: Routing
  readonly cancelling: Cancelling
  readonly sending: Sending
  /** The clock was set back to `now`, by `ms` milliseconds. */
  shift(ms: number, now: number): void
  /** Statements of the transaction itself. */
  begin(): void
  commit(): void
  /** Undoes everything since `begin`, if SQLite has not done so by itself. */
  rollback(): void
  /** Runs inside a savepoint of its own: a throw undoes what it did and nothing else. */
  nested(run: () => void): void
  /** Counts the commit; part of every transaction, so that a lost answer can be settled by reading it. */
  beat(): void
  probe(): void
  close(): void
}

/** `data` is looked at anew whenever its limits matter. */
export function openDesk(data: WriterData, changed: NoteChange): Desk {
  const file = databaseFile(data.folder)
  // SQLite would make a new one, and a store that forgot everything would seem to work.
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `the database ${file} is gone`)
  const db = new DatabaseSync(file, { timeout: 5_000 })
  try {
    // FULL: a commit is on the disk before anyone hears of it. The checkpoint waits for 16 MiB of log, which a long reader may let grow and which then shrinks to 64 MiB.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
    )
    migrate(db)
    return prepareDesk(db, data, changed)
  } catch (error) {
    db.close()
    throw error
  }
}

function prepareDesk(db: DatabaseSync, data: WriterData, changed: NoteChange): Desk {
  const tally = readTally(db)
  const schedule = createSchedule(db, tally)
  const joining = createJoining(db, schedule)
  const deliveries = createDeliveries(db, changed)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const savepoint = db.prepare('SAVEPOINT entry')
  const release = db.prepare('RELEASE entry')
  const rollbackTo = db.prepare('ROLLBACK TO entry')
  const beat = db.prepare('UPDATE pulse SET commits = ?, sequence = ?')
  const putWeight = db.prepare('INSERT INTO probe VALUES (zeroblob(65536))')
  const takeWeight = db.prepare('DELETE FROM probe')

  return {
    db,
    tally,
    schedule,
    accepting: createAccepting({
      db,
      tally,
      schedule,
      joining,
      changed,
      limits: data,
      bounds: data,
    }),
    applyEffects: createEffects({ db, tally, schedule, deliveries, changed }),
    loadWork: createLoading(db, tally, data.historyMessages),
    retention: createRetention(db, tally, data),
    routing: createRouting(db, schedule),
    cancelling: createCancelling({ db, schedule, joining, changed }),
    sending: createSending({ tally, schedule, deliveries, limits: data }),
    shift(ms, now) {
      schedule.shift(ms)
      joining.shift(ms, now)
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
    beat() {
      tally.commits += 1
      beat.run(tally.commits, tally.sequence)
    },
    probe() {
      putWeight.run()
      takeWeight.run()
    },
    close: () => db.close(),
  }
}
