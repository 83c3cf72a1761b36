/**
 * Keeps replay jobs and their items. An item gets the id of its replay before the replay begins, and keeps it: a replay that is
 * accepted again after a restart is answered like the first time.
 */

import type { DatabaseSync } from 'node:sqlite'
import {
  type CountedJob,
  jobOf,
  jobWithKey,
  keyOfOptions,
  optionsOfJob,
  refuseOverMostItems,
  unknown,
  withEnd,
  wrongState,
} from '../../decisions.ts'
import { isId } from '../../id.ts'
import type { Command, CommandResult, Id, ReplayJob, ReplayJobItem } from '../../port.ts'
import type { ItemQuery } from '../../reading.ts'
import { blobOfId, idOfBlob } from '../database/ids.ts'

export type Jobs = ReturnType<typeof createJobs>

type Of<Type extends Command['type']> = Command & { readonly type: Type }

export function createJobs(db: DatabaseSync) {
  const select = db.prepare('SELECT * FROM jobs WHERE id = ?')
  const insert = db.prepare("INSERT INTO jobs VALUES (?, ?, ?, 'running', 0, 0, 0, 0, 0, ?, NULL)")
  const insertItem = db.prepare(
    "INSERT INTO job_items VALUES (?, ?, ?, NULL, 'open', NULL) ON CONFLICT (job, request) DO NOTHING",
  )
  const update = db.prepare(
    `UPDATE jobs SET whole = ?, total = ?, done = ?, failed = ?, skipped = ?, state = ?, ended_at = ? WHERE id = ?`,
  )
  const selectOpen = db.prepare(
    "SELECT number, request, replay FROM job_items WHERE job = ? AND state = 'open' ORDER BY number LIMIT ?",
  )
  const assign = db.prepare('UPDATE job_items SET replay = ? WHERE job = ? AND number = ?')
  const settle = db.prepare(
    "UPDATE job_items SET state = ?, reason = ? WHERE job = ? AND request = ? AND state = 'open' AND replay IS NOT NULL",
  )
  const cancelPartial = db.prepare(
    "UPDATE jobs SET state = 'cancelled', ended_at = ? WHERE state = 'running' AND whole = 0",
  )

  const selectKeyed = db.prepare(
    "SELECT id, options FROM jobs WHERE state <> 'cancelled' AND options LIKE '%\"key\":%'",
  )

  const find = (id: Id) => (isId(id) ? (select.get(blobOfId(id)) as JobRow | undefined) : undefined)

  const keyedJobs = () => selectKeyed.all() as unknown as Pick<JobRow, 'id' | 'options'>[]

  function write(row: JobRow): void {
    update.run(row.whole, row.total, row.done, row.failed, row.skipped, row.state, row.ended_at, row.id)
  }

  return {
    begin({ job, items, more }: Of<'job-begin'>): CommandResult {
      refuseOverMostItems(items.length)
      if (find(job.id) === undefined) {
        const key = keyOfOptions(job.options)
        const same = key === undefined ? undefined : jobWithKey(keyedJobs(), key)
        if (same !== undefined) return { ok: true, done: 0, job: idOfBlob(same.id) }
        insert.run(blobOfId(job.id), JSON.stringify(job.filter), optionsOfJob(job), job.createdAt)
      }
      const row = find(job.id) as JobRow
      if (row.state !== 'running') return ended(row)
      if (row.whole === 1) {
        // The last call is made again because its answer was lost.
        return more === undefined ? { ok: true, done: 0 } : wrongState('it has all of its items')
      }
      let { total } = row
      for (const request of items) {
        total += Number(insertItem.run(row.id, total + 1, blobOfId(request)).changes)
      }
      write(withEnd({ ...row, total, whole: more === undefined ? 1 : 0 }, job.createdAt))
      return { ok: true, done: total - row.total }
    },

    next({ job, limit, mint }: Of<'job-next'>): CommandResult {
      refuseOverMostItems(limit)
      const row = find(job)
      if (row === undefined) return unknownJob
      if (row.state !== 'running') return ended(row)
      if (row.whole === 0) return wrongState('it has not got all of its items yet')
      const open = selectOpen.all(row.id, limit) as unknown as OpenRow[]
      let minted = 0
      const items = open.flatMap(({ number, request, replay }) => {
        const id = replay === null ? mint[minted++] : idOfBlob(replay)
        if (id === undefined) return []
        if (replay === null) assign.run(blobOfId(id), row.id, number)
        return [{ request: idOfBlob(request), replay: id }]
      })
      return { ok: true, items }
    },

    settle({ job, items, at }: Of<'job-settle'>): CommandResult {
      refuseOverMostItems(items.length)
      const row = find(job)
      if (row === undefined) return unknownJob
      const counts = { done: row.done, failed: row.failed, skipped: row.skipped }
      for (const { request, state, reason } of items) {
        const { changes } = settle.run(state, reason ?? null, row.id, blobOfId(request))
        counts[state] += Number(changes)
      }
      write(withEnd({ ...row, ...counts }, at))
      return { ok: true }
    },

    cancel({ job, at }: Of<'job-cancel'>): CommandResult {
      const row = find(job)
      if (row === undefined) return unknownJob
      if (row.state !== 'running') return ended(row)
      write({ ...row, state: 'cancelled', ended_at: at })
      return { ok: true }
    },

    /** Cancels jobs of a process that ended before it had added all of their items. */
    recover: (at: number) => void cancelPartial.run(at),
  }
}

const unknownJob = unknown('job')

function ended({ state }: JobRow): CommandResult {
  return wrongState(`it is ${state}`)
}

/** What the reader's thread asks for. Jobs are few; the items of one may be very many. */
export function createJobReader(db: DatabaseSync) {
  const selectJob = db.prepare('SELECT * FROM jobs WHERE id = ?')
  const selectJobs = db.prepare(
    `SELECT * FROM jobs WHERE id < ifnull(?1, x'ff') AND state = ifnull(?2, state) ORDER BY id DESC LIMIT ?3`,
  )
  const selectItems = (order: '>' | '<') =>
    db.prepare(
      `SELECT * FROM job_items WHERE job = ?1 AND number ${order} ?2 AND state = ifnull(?3, state)
       ORDER BY number ${order === '<' ? 'DESC' : ''} LIMIT ?4`,
    )
  const [forwards, backwards] = [selectItems('>'), selectItems('<')]

  return {
    job(id: Id): ReplayJob | undefined {
      const row = selectJob.get(blobOfId(id)) as JobRow | undefined
      return row && jobOf(idOfBlob(row.id), row)
    },
    jobs(limit: number, state?: string, before?: Id): ReplayJob[] {
      const blob = before !== undefined && isId(before) ? blobOfId(before) : null
      return (selectJobs.all(blob, state ?? null, limit) as unknown as JobRow[]).map((row) =>
        jobOf(idOfBlob(row.id), row),
      )
    },
    /** `after` is the number of the last item of the page before. */
    jobItems(
      id: Id,
      { limit, state, newestFirst, after }: ItemQuery,
    ): readonly (ReplayJobItem & { readonly number: number })[] {
      const [select, start] = newestFirst ? [backwards, Number.MAX_SAFE_INTEGER] : [forwards, 0]
      const rows = select.all(blobOfId(id), after ?? start, state ?? null, limit) as unknown as ItemRow[]
      return rows.map(itemOf)
    },
  }
}

interface JobRow extends CountedJob {
  readonly id: Uint8Array
}

interface OpenRow {
  readonly number: number
  readonly request: Uint8Array
  readonly replay: Uint8Array | null
}

interface ItemRow extends OpenRow, Pick<ReplayJobItem, 'state'> {
  readonly reason: string | null
}

function itemOf({ number, request, replay, state, reason }: ItemRow): ReplayJobItem & { number: number } {
  return {
    number,
    request: idOfBlob(request),
    ...(replay !== null && { replay: idOfBlob(replay) }),
    state,
    ...(reason !== null && { reason }),
  }
}
