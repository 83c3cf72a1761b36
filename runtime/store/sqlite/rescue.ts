/**
 * Saves the store after the disk has failed.
 *
 * A failed fsync is reported once. Afterwards the pages that were lost stay readable in the cache and count as clean, so
 * nothing writes them again: whatever is appended to the same log, or checkpointed into the same database, can be lost with
 * them, and on ext4 a page whose first write failed is not made durable by writing it again (its extent stays unwritten). So
 * after an I/O error neither file is written any more:
 *
 * 1. A mark is left beside the database, for a process that starts before this is over.
 * 2. All connections are closed, without a checkpoint: it would copy what the cache shows into the database.
 * 3. The next connection recovers the log, by its checksums. Acknowledged data was synced, and is in the log or in the
 *    database. The commit whose outcome is unclear is there or not.
 * 4. Readable data goes into a file of its own, and is synced with its folder. From then on it is the store.
 * 5. The log is deleted, and only then the file gets the name of the database: a log belongs to the database beside it.
 *
 * Each step may be the last of a process. A start goes on where the one before ended. Only a process that is killed after the failed fsync
 * and before the mark leaves nothing that the next one could see: a lost write is reported once.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Outage, StoreError } from '../port.ts'
import { reasonOf } from './failure.ts'
import { databaseFile, syncFolder } from './folder.ts'

const markFile = (folder: string) => `${databaseFile(folder)}-outage`
/** The copy while it is made, and once it is the store. */
const draftFile = (folder: string) => `${databaseFile(folder)}-rescue`
const rescuedFile = (folder: string) => `${databaseFile(folder)}-rescued`

/** The mark of an outage, for a later process. */
export interface Mark extends Outage {
  /** The number of the last commit that was acknowledged. */
  readonly commits: number
}

/**
 * Keeps the mark, if only in the cache: it warns a process that starts before the power fails of what else is only there. After a
 * power failure what is read is what is on the disk.
 */
export function leaveMark(folder: string, mark: Mark): void {
  try {
    writeFileSync(markFile(folder), JSON.stringify(mark), { mode: 0o600 })
  } catch {
    // The disk fails, which is why the mark is left.
  }
}

/** Returns what an outage has left, in this process or an earlier one. */
export function markIn(folder: string): Mark | undefined {
  try {
    const { since, until, reason, commits } = JSON.parse(readFileSync(markFile(folder), 'utf8'))
    return { since, ...(until !== undefined && { until }), reason, commits }
  } catch {
    // The disk may have lost its content.
    const left = statSync(markFile(folder), { throwIfNoEntry: false })
    return left && { since: Math.round(left.mtimeMs), reason: 'disk I/O error', commits: 0 }
  }
}

export function removeMark(folder: string): void {
  rmSync(markFile(folder), { force: true })
}

/** True if the copy is the store already, and `finishRescue` has not been done. */
export function isRescued(folder: string): boolean {
  return existsSync(rescuedFile(folder))
}

/**
 * Puts what is readable of the store into a new file. No connection to it is open. Takes about a second for 20 MB. `commits`
 * is how many were acknowledged: a copy with fewer is refused.
 * @throws StoreError `STORE_UNAVAILABLE` while that fails; then nothing has changed
 */
export function rescueStore(folder: string, commits: number): void {
  const draft = draftFile(folder)
  try {
    if (isRescued(folder)) return
    rmSync(draft, { force: true })
    // It stays open, so that an error of writing in the background is reported to its fsync.
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      copyReadable(databaseFile(folder), draft, commits)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, rescuedFile(folder))
    syncFolder(folder)
  } catch (error) {
    throw new StoreError(
      'STORE_UNAVAILABLE',
      `the disk lost writes, and the store cannot be put into a new file yet: ${reasonOf(error)}`,
      {
        cause: error,
        brief: 'its disk lost writes',
      },
    )
  } finally {
    rmSync(draft, { force: true })
  }
}

/** SQL for the number of commits in the store's whole life. */
export const readCommits = "SELECT coalesce(sum(value), 0) AS commits FROM counts WHERE name = 'commits'"

/** A connection that only reads never checkpoints, not even when it is the last that is closed. */
function copyReadable(source: string, target: string, commits: number): void {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
  try {
    const found = db.prepare(readCommits).get() as { commits: number }
    if (found.commits < commits)
      throw new Error(`only ${found.commits} of ${commits} acknowledged commits can be read`)
    // The target is synced by the caller.
    db.exec('PRAGMA synchronous = OFF')
    db.prepare('VACUUM INTO ?').run(target)
  } finally {
    db.close()
  }
}

/** Does what is left to do once the copy is whole. Does nothing where there is none. */
export function finishRescue(folder: string): void {
  const file = databaseFile(folder)
  if (!isRescued(folder)) return
  for (const companion of ['-wal', '-shm']) rmSync(`${file}${companion}`, { force: true })
  syncFolder(folder)
  renameSync(rescuedFile(folder), file)
  syncFolder(folder)
}

/**
 * Ends what an earlier process could not end: a rescue that it had begun, or one that its mark asks for. It does not wait for
 * what was acknowledged and cannot be read any more: whoever starts again wants what is there.
 * @throws StoreError `STORE_UNAVAILABLE`
 */
export function rescueAtStart(folder: string, now: number): void {
  const mark = markIn(folder)
  const isOpen = mark !== undefined && mark.until === undefined
  if (isOpen) rescueStore(folder, 0)
  finishRescue(folder)
  if (isOpen) leaveMark(folder, { ...mark, until: now })
}
