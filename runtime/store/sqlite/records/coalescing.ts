/**
 * Decides which run a request joins, and stores what joined.
 *
 * A run can be joined as long as its task was never claimed. Of its requests the newest 1,000 are known by id. Their
 * contents are kept as far as they fit, and the oldest are dropped first. A number counts all of them.
 */

import type { DatabaseSync } from 'node:sqlite'
import { type Id, type JoinedRequest, mostNamedRequests, type RunRecord, requestsOf } from '../../port.ts'
import { blobOfId, idOfBlob } from '../database/ids.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { PlainJoin } from './flat-entry.ts'

export type Coalescing = ReturnType<typeof createCoalescing>

/** The most UTF-16 units of contents that are kept for one run. */
const mostUnits = 1_048_576

/** How many messages the record of a cancelled run shows. */
const mostShown = 100

const hour = 3_600_000
const day = 24 * hour

interface CoalescedRow {
  readonly key: string
  readonly number: number
  readonly run: Uint8Array
  readonly deadline: number | null
  readonly joined: number
  readonly first_kept: number
  readonly size: number
}

export function createCoalescing(db: DatabaseSync, schedule: Schedule) {
  const selectNewest = db.prepare('SELECT * FROM coalesced WHERE key = ? ORDER BY number DESC LIMIT 1')
  const insertCoalesced = db.prepare(
    `INSERT INTO coalesced VALUES
     (?1, (SELECT ifnull(max(number), 0) + 1 FROM coalesced WHERE key = ?1), ?2, ?3, ?4, 0, 1, 0)`,
  )
  const updateCoalesced = db.prepare(
    'UPDATE coalesced SET joined = ?, first_kept = ?, size = ? WHERE key = ? AND number = ?',
  )
  const endCoalesced = db.prepare('UPDATE coalesced SET deadline = NULL WHERE run = ?')
  const insertJoined = db.prepare('INSERT INTO joined VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const selectJoined = db.prepare('SELECT run FROM joined WHERE action = ?')
  const selectSize = db.prepare('SELECT size FROM joined WHERE run = ? AND number = ?')
  const deleteContent = db.prepare(
    'UPDATE joined SET message = NULL, prompt = NULL, size = 0 WHERE run = ? AND number = ?',
  )
  const deleteJoined = db.prepare('DELETE FROM joined WHERE run = ? AND number = ?')
  const deleteContents = db.prepare('UPDATE joined SET message = NULL, prompt = NULL, size = 0 WHERE run = ?')
  const shift = db.prepare('UPDATE coalesced SET at = at - ?1, deadline = deadline - ?1 WHERE at > ?2')

  /** Drops the oldest contents until the rest fits. The newest one stays whatever its size. */
  function trim(row: CoalescedRow, number: number, added: number, keep: PlainJoin['keep']): void {
    let { first_kept: firstKept, size } = row
    size += added
    while (
      firstKept < number &&
      (keep === 'latest' || size > mostUnits || firstKept <= number - mostNamedRequests)
    ) {
      size -= (selectSize.get(row.run, firstKept) as { size: number }).size
      deleteContent.run(row.run, firstKept)
      firstKept += 1
    }
    deleteJoined.run(row.run, number - mostNamedRequests)
    updateCoalesced.run(number, firstKept, size, row.key, row.number)
  }

  return {
    /** Returns the run that the action has joined, or `undefined` if there is none to join. */
    join(id: Id, join: PlainJoin, request: Uint8Array, now: number): Id | undefined {
      const row = selectNewest.get(join.key) as CoalescedRow | undefined
      if (row === undefined || row.deadline === null) return undefined
      const run = idOfBlob(row.run)
      if (!schedule.defer(`run:${run}`, Math.min(join.dueAt, row.deadline), now)) return undefined
      const { message, prompt, keep } = join
      const number = row.joined + 1
      const size = message.length + prompt.length
      insertJoined.run(blobOfId(id), row.run, number, request, now, size, message, prompt)
      trim(row, number, size, keep)
      return run
    },

    /** Registers a new run that later requests may join: the first run of a burst. */
    begin(id: Id, join: PlainJoin, now: number) {
      insertCoalesced.run(join.key, blobOfId(id), now, join.deadline)
    },

    /** Returns the run that an action joined, as long as the action is among the run's newest 1,000. */
    joinedTo(action: Id): Id | undefined {
      const row = selectJoined.get(blobOfId(action)) as { run: Uint8Array } | undefined
      return row && idOfBlob(row.run)
    },

    /** Lets no further request join the run. */
    end(run: Id) {
      endCoalesced.run(blobOfId(run))
    },

    /** Erases the contents that joined a run. */
    forget(run: Id) {
      deleteContents.run(blobOfId(run))
    },

    /** The clock was set back to `now`, by `ms` milliseconds. */
    shift(ms: number, now: number) {
      // Older runs no longer wait, and no longer count for an hour.
      shift.run(ms, now + ms - day)
    },
  }
}

/** The requests that became one run, as its record says it. */
export type Coalesced = NonNullable<ReturnType<ReturnType<typeof createJoinedReader>['coalesced']>>

export function createJoinedReader(db: DatabaseSync) {
  const selectRun = db.prepare('SELECT key, number, at, joined FROM coalesced WHERE run = ?')
  const selectIds = db.prepare('SELECT request FROM joined WHERE run = ? ORDER BY number')
  const selectJoined = db.prepare(
    'SELECT request, at, message, prompt FROM joined WHERE run = ? ORDER BY number',
  )
  const selectNewest = db.prepare(
    `SELECT request, at, message FROM joined WHERE run = ? ORDER BY number DESC LIMIT ${mostShown}`,
  )
  const selectEarlier = db.prepare(
    'SELECT at FROM coalesced WHERE key = ? AND number <= ? ORDER BY number DESC',
  )

  const find = (run: Id) =>
    selectRun.get(blobOfId(run)) as { key: string; number: number; at: number; joined: number } | undefined

  return {
    /** Returns `undefined` for a run that no request can join. */
    coalesced(run: Id, ownRequest: Id | undefined) {
      const row = find(run)
      if (row === undefined) return undefined
      const rows = selectIds.all(blobOfId(run)) as unknown as { request: Uint8Array }[]
      const joined = rows.map(({ request }) => idOfBlob(request))
      return { count: row.joined + 1, ...requestsOf(ownRequest, joined, row.joined) }
    },

    /** Returns the requests that are known by id, oldest first, and how many there were in all. */
    joined(run: Id): { readonly joined: JoinedRequest[]; readonly joinedCount: number } | undefined {
      const row = find(run)
      if (row === undefined) return undefined
      const rows = selectJoined.all(blobOfId(run)) as unknown as JoinedRow[]
      return { joined: rows.map(joinedRequest), joinedCount: row.joined }
    },

    /** Returns the newest messages that joined a run, oldest first. */
    messages(run: Id): NonNullable<RunRecord['joined']> {
      const rows = selectNewest.all(blobOfId(run)) as unknown as Omit<JoinedRow, 'prompt'>[]
      return rows.reverse().map(({ request, at, message }) => ({
        requestId: idOfBlob(request),
        at,
        ...(message !== null && { message }),
      }))
    },

    /** Counts the runs of its key that were accepted in the hour before it, itself included. */
    ofKey(run: Id): number | undefined {
      const own = find(run)
      if (own === undefined) return undefined
      let count = 0
      const earlier = selectEarlier.iterate(own.key, own.number) as unknown as Iterable<{ at: number }>
      for (const { at } of earlier) {
        if (at <= own.at - hour) break
        // A run with a later time was accepted before the clock was set back, at an unknown time.
        if (at <= own.at) count += 1
      }
      return count
    },
  }
}

interface JoinedRow {
  readonly request: Uint8Array
  readonly at: number
  readonly message: string | null
  readonly prompt: string | null
}

function joinedRequest({ request, at, message, prompt }: JoinedRow): JoinedRequest {
  const joined = { requestId: idOfBlob(request), at }
  return message === null || prompt === null ? joined : { ...joined, content: { message, prompt } }
}
