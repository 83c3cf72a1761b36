/** One connection of the writer: opened, migrated, and with everything prepared that works on it. */

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../port.ts'
import { createCommands } from '../commands.ts'
import { databaseFile } from '../database/folder.ts'
import { migrateStore, type OnMigration } from '../database/migrate-store.ts'
import type { Parts } from '../parts.ts'
import { createAccepting } from '../records/accepting.ts'
import { createBounds } from '../records/bounds.ts'
import type { NoteChange } from '../records/change-list.ts'
import { createCoalescing } from '../records/coalescing.ts'
import { readCounters } from '../records/counters.ts'
import { createDeliveries } from '../records/deliveries.ts'
import { createEffects } from '../records/effects.ts'
import { createEvents } from '../records/events.ts'
import { createHistories } from '../records/histories.ts'
import { createJobs } from '../records/jobs.ts'
import { createLoading } from '../records/loading.ts'
import { createLookups } from '../records/lookups.ts'
import { createRequests } from '../records/requests.ts'
import { createRuns } from '../records/runs.ts'
import { createRetention } from '../retention/retention.ts'
import { createSchedule } from '../schedule/schedule.ts'
import type { WriterData } from './protocol.ts'

export type WriterConnection = ReturnType<typeof prepareConnection>

/** How long a statement waits for a lock that another connection holds. */
const busyMs = 5_000

/** The limits in `data` are read whenever they matter, because a reload changes them. */
export function openWriterConnection(
  data: WriterData,
  changed: NoteChange,
  onMigration?: OnMigration,
): WriterConnection {
  const file = databaseFile(data.folder)
  // SQLite would create a new file, and a store that has lost everything would seem to work.
  if (!existsSync(file)) throw new StoreError('STORE_UNAVAILABLE', `the database ${file} is gone`)
  const anchor = openAnchor(file)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: busyMs })
    // FULL: a commit is on the disk before it is answered. FAST: a row that is written again leaves no copy in its page, so that
    // forgetting finds all of it; this costs no further I/O. Checkpoints are run by the writer, because SQLite says nothing of
    // one of its own that failed. A long read lets the log grow, and it shrinks to 64 MiB afterwards.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864',
    )
    anchor.attach()
    migrateStore(db, data.folder, { onMigration })
    return prepareConnection(db, anchor, data, changed)
  } catch (error) {
    db?.close()
    anchor.close()
    throw error
  }
}

/**
 * The last connection that is closed checkpoints the log, unless it only reads. After the disk has failed nothing may be
 * checkpointed, so a second connection that only reads stays open for as long as the first.
 */
function openAnchor(file: string) {
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyMs })
  const attach = () => void db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  try {
    // A log that is there is attached at once, a new one once it is there.
    attach()
  } catch (error) {
    db.close()
    throw error
  }
  return { attach, close: () => db.close() }
}

/** A checkpoint runs when as many pages of the log are not in the database yet: 16 MiB. */
const maxLoggedPages = 4_000
/** Before SQLite 3.51 counting them is a whole checkpoint, so it is done with every so many commits. */
const maxCommits = 200
const countsLog = !/^3\.(?:4\d|50)\./.test(process.versions['sqlite'] ?? '')

function prepareConnection(
  db: DatabaseSync,
  anchor: ReturnType<typeof openAnchor>,
  data: WriterData,
  changed: NoteChange,
) {
  let commitsSinceCheckpoint = 0
  const counters = readCounters(db)
  const schedule = createSchedule(db, counters)
  const coalescing = createCoalescing(db, schedule)
  const parts: Parts = {
    db,
    counters,
    bounds: createBounds(db, counters, data),
    schedule,
    requests: createRequests(db),
    lookups: createLookups(db),
    runs: createRuns(db, changed),
    events: createEvents(db, counters, changed),
    deliveries: createDeliveries(db, changed),
    histories: createHistories(data.historyMessages),
    coalescing,
    changed,
    limits: data,
  }
  const jobs = createJobs(db)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const beginReading = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const savepoint = db.prepare('SAVEPOINT entry')
  const release = db.prepare('RELEASE entry')
  const rollbackTo = db.prepare('ROLLBACK TO entry')
  const updateCommitNumber = db.prepare('UPDATE pulse SET commits = ?, sequence = ?, body_bytes = ?')
  const countLog = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const putWeight = db.prepare('INSERT INTO probe VALUES (zeroblob(65536))')
  const takeWeight = db.prepare('DELETE FROM probe')

  return {
    db,
    counters,
    schedule,
    accepting: createAccepting(parts),
    applyEffects: createEffects(parts),
    loadWork: createLoading(parts, data.historyMessages),
    histories: parts.histories,
    retention: createRetention(parts, data),
    runCommand: createCommands(parts, jobs),
    recoverJobs: jobs.recover,
    leftOpen: () => ({
      replayJobs: db.prepare("SELECT 1 FROM jobs WHERE state = 'running' LIMIT 1").get() !== undefined,
      issues: db.prepare("SELECT 1 FROM issues WHERE state <> 'resolved' LIMIT 1").get() !== undefined,
    }),
    /** Copies the log into the database when it is long. It costs two fsyncs, and a microsecond while the log is short. */
    checkpoint() {
      commitsSinceCheckpoint += 1
      if (!countsLog && commitsSinceCheckpoint < maxCommits) return
      const { log, checkpointed } = countLog.get() as { log: number; checkpointed: number }
      if (log - checkpointed >= maxLoggedPages) checkpoint.get()
      commitsSinceCheckpoint = 0
    },
    /**
     * Copies the whole log into the database and empties it. Returns false if a reader was in the way: then it has to be
     * called again.
     */
    emptyLog(): boolean {
      db.exec('PRAGMA busy_timeout = 0')
      try {
        return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
      } finally {
        db.exec(`PRAGMA busy_timeout = ${busyMs}`)
      }
    },
    /** The clock was set back to `now`, by `ms` milliseconds. */
    shift(ms: number, now: number) {
      schedule.shift(ms)
      coalescing.shift(ms, now)
    },
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    /** Undoes everything since `begin`, if SQLite has not done so by itself. */
    rollback() {
      if (db.isTransaction) db.exec('ROLLBACK')
    },
    /** Runs a function that only reads. One transaction for all reads costs less than one for each. */
    reading<Result>(run: () => Result): Result {
      beginReading.run()
      try {
        return run()
      } finally {
        commit.run()
      }
    },
    /** Runs a function inside a savepoint of its own. If it throws, only what it did is undone. */
    nested(run: () => void) {
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
    /** Counts the commit, as part of every transaction, so that an unknown outcome is settled by reading the number. */
    countCommit() {
      counters.commits += 1
      updateCommitNumber.run(counters.commits, counters.sequence, counters.bodyBytes)
    },
    /** Writes and deletes a row, to find out whether writing works. */
    probe() {
      putWeight.run()
      takeWeight.run()
    },
    /** Closes the connection after the log was emptied; SQLite deletes it. */
    close() {
      anchor.close()
      db.close()
    },
    /** Closes the connection and writes nothing. */
    abandon() {
      db.close()
      anchor.close()
    },
  }
}
