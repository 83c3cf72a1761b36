/**
 * Deletes ended history older than `keepMs` and bodies over their limit, and indexes newer requests, in slices of a couple of milliseconds inside transactions that are due anyway.
 *
 * A pass walks every table from its oldest row, by key, and stops at the age limit. It skips rows that are old and still
 * open. A request is deleted when nothing that it caused is left.
 */

import type { DatabaseSync } from 'node:sqlite'
import { dayMs, dayOf } from '../../day.ts'
import type { DeliveryRecord, RequestRecord, RunRecord } from '../../port.ts'
import { blobOfId, blobOfTime, createPlaceFinder, placeOfTime } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import type { Bounds } from '../records/bounds.ts'
import { bytesInRow } from '../records/counters.ts'
import type { EventRow } from '../records/events.ts'
import type { Lookups } from '../records/lookups.ts'
import type { RequestRow } from '../records/requests.ts'
import { type RunRow, runColumns, runOf } from '../records/runs.ts'
import { createCostPruning } from '../records/spending.ts'
import { idleStep, type Key, runnerStateStep, type Step, stride, turnStep } from './session-steps.ts'

/** Milliseconds between two passes. */
const passPauseMs = 60_000
/** Milliseconds between two slices of one pass. */
const slicePauseMs = 20
/** The longest time in milliseconds that a slice may hold the writer. */
const sliceMs = 2

export interface RetentionOptions {
  /** Read for each stride, because a reload changes it. */
  readonly keepMs: number
  readonly sessionIdleMs?: number
  /** The time at open. The first pass begins a minute later. */
  readonly now: number
  /** The clock that measures slices. */
  readonly elapsed?: () => number
}

export function createRetention(
  { db, bounds, lookups, histories }: Pick<Parts, 'db' | 'bounds' | 'lookups' | 'histories'>,
  options: RetentionOptions,
) {
  const { elapsed = () => performance.now() } = options
  // A record is deleted before what it belongs to: deliveries before their run, runs and events before their request.
  const steps: readonly Step[] = [
    deliveryStep(db),
    runStep(db),
    eventStep(db),
    requestStep(db, bounds),
    bodyStep(bounds),
    turnStep(db, histories),
    idleStep(db, histories, options),
    runnerStateStep(db),
    dedupeStep(db),
    spentStep(db),
    jobStep(db),
    issueStep(db),
    lookupStep(lookups),
  ]
  let index = 0
  let after: Key | undefined
  let nextAt = options.now + passPauseMs

  return {
    /** When the next slice may run. */
    get nextAt() {
      return nextAt
    },
    sweep(now: number) {
      const until = elapsed() + sliceMs
      for (;;) {
        const step = steps[index]
        if (step === undefined) {
          index = 0
          after = undefined
          nextAt = now + passPauseMs
          return
        }
        after = step(after, now - options.keepMs, now)
        if (after === undefined) index += 1
        if (elapsed() >= until) {
          nextAt = now + slicePauseMs
          return
        }
      }
    },
    /** Begins a pass at once, because less is kept than before. */
    begin(now: number) {
      index = 0
      after = undefined
      nextAt = now
    },
    /** Moves the next slice, because the clock was set back by `ms` milliseconds. */
    shift(ms: number) {
      nextAt -= ms
    },
    /** Begins the pass again, because the transaction of the last slice was undone. */
    restart() {
      index = 0
      after = undefined
    },
  }
}

/** What a step decides by: the row, and the time before which ended things are deleted. Returns whether the row is deleted. */
type IsGone<Row> = (row: Row & { readonly place: number }, cutoff: number) => boolean

/** Walks a table in the order of its ids, below the ids of the age limit. */
function recordStep<Row>(db: DatabaseSync, table: string, columns: string, isGone: IsGone<Row>): Step {
  const select = db.prepare(
    `SELECT place, ${columns} FROM ${table} WHERE place > ? AND place < ? ORDER BY place LIMIT ${stride}`,
  )
  const remove = db.prepare(`DELETE FROM ${table} WHERE place = ?`)
  return (after, cutoff) => {
    const from = after?.[0] ?? Number.MIN_SAFE_INTEGER
    const rows = select.all(from, placeOfTime(cutoff)) as unknown as (Row & { place: number })[]
    for (const row of rows) if (isGone(row, cutoff)) remove.run(row.place)
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.place]
  }
}

function runStep(db: DatabaseSync): Step {
  const openTask = db.prepare('SELECT 1 FROM tasks WHERE key = ?')
  const delivery = db.prepare('SELECT 1 FROM deliveries WHERE id = ?')
  const removeJoined = db.prepare('DELETE FROM joined WHERE run = ?')
  const removeCoalesced = db.prepare('DELETE FROM coalesced WHERE run = ?')
  const isOpen = (run: RunRecord) =>
    openTask.get(`run:${run.id}`) !== undefined ||
    run.deliveryIds.some((id) => delivery.get(blobOfId(id)) !== undefined)
  return recordStep<RunRow>(db, 'runs', ['id', ...runColumns].join(', '), (row, cutoff) => {
    if (row.state === 'queued' || row.state === 'running') return false
    const run = runOf(row)
    const isGone = (run.ranAt ?? run.cancelledAt ?? run.createdAt) < cutoff && !isOpen(run)
    if (isGone && run.coalesce !== undefined) {
      removeJoined.run(blobOfId(run.id))
      removeCoalesced.run(blobOfId(run.id))
    }
    return isGone
  })
}

function eventStep(db: DatabaseSync): Step {
  const isGone: IsGone<Pick<EventRow, 'pending' | 'consumed_at' | 'created_at'>> = (event, cutoff) =>
    event.pending === null && (event.consumed_at ?? event.created_at) < cutoff
  return recordStep(db, 'events', 'pending, consumed_at, created_at', isGone)
}

/** Deliveries are few, and keyed by their ids. */
function deliveryStep(db: DatabaseSync): Step {
  const select = db.prepare(
    `SELECT id, record FROM deliveries WHERE id > ? AND id < ? ORDER BY id LIMIT ${stride}`,
  )
  const remove = db.prepare('DELETE FROM deliveries WHERE id = ?')
  return (after, cutoff) => {
    const rows = select.all(after?.[0] ?? blobOfTime(0), blobOfTime(cutoff)) as unknown as {
      id: Uint8Array
      record: string
    }[]
    for (const { id, record } of rows) {
      const { state, endedAt, createdAt } = JSON.parse(record) as DeliveryRecord
      if (state !== 'pending' && (endedAt ?? createdAt) < cutoff) remove.run(id)
    }
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.id]
  }
}

function requestStep(db: DatabaseSync, bounds: Bounds): Step {
  const [run, event] = [createPlaceFinder(db, 'runs'), createPlaceFinder(db, 'events')]
  const isThere = (id: Uint8Array) => run(id) !== undefined || event(id) !== undefined
  const isGone: IsGone<Pick<RequestRow, 'outcome' | 'actions'> & { bytes: number }> = (request) => {
    const actions: RequestRecord['actions'] = request.actions === null ? [] : JSON.parse(request.actions)
    if (actions.some(({ id }) => isThere(blobOfId(id)))) return false
    bounds.removed(request.place, request.outcome, request.bytes)
    return true
  }
  return recordStep(db, 'requests', `outcome, actions, ${bytesInRow} AS bytes`, isGone)
}

/** Deletes the oldest bodies after their limit was lowered, and those that are kept for a short while. What comes later keeps to it by itself. */
function bodyStep(bounds: Bounds): Step {
  return (_after, _cutoff, now) =>
    bounds.dropBodies(stride) || bounds.dropBriefBodies(now, stride) ? [] : undefined
}

function dedupeStep(db: DatabaseSync): Step {
  const select = db.prepare(
    `SELECT scope, key, until FROM dedupe WHERE (scope, key) > (?, ?) ORDER BY scope, key LIMIT ${stride}`,
  )
  const remove = db.prepare('DELETE FROM dedupe WHERE scope = ? AND key = ?')
  return (after, _cutoff, now) => {
    const [scope = '', key = ''] = after ?? []
    const rows = select.all(scope, key) as unknown as { scope: string; key: string; until: number }[]
    for (const row of rows) if (row.until <= now) remove.run(row.scope, row.key)
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.scope, last.key]
  }
}

/** Indexes the requests of the last minutes, and forgets what leads to deleted ones. */
function lookupStep(lookups: Lookups): Step {
  return (_after, _cutoff, now) => (lookups.indexSome(now) || lookups.forgetSome() ? [] : undefined)
}

/** Deletes old days. Two days always stay, for a clock that is set back. */
function spentStep(db: DatabaseSync): Step {
  const remove = db.prepare('DELETE FROM spent WHERE day < ?')
  const pruneCosts = createCostPruning(db)
  return (_after, cutoff, now) => {
    const day = dayOf(Math.max(0, Math.min(cutoff, now - 2 * dayMs)))
    remove.run(day)
    pruneCosts(day, now)
    return undefined
  }
}

/** Deletes ended replay jobs, whose items go first. */
function jobStep(db: DatabaseSync): Step {
  const select = db.prepare("SELECT id FROM jobs WHERE state <> 'running' AND ended_at < ? LIMIT 1")
  const removeItems = db.prepare(
    `DELETE FROM job_items WHERE (job, number) IN
     (SELECT job, number FROM job_items WHERE job = ? LIMIT ${stride})`,
  )
  const remove = db.prepare('DELETE FROM jobs WHERE id = ?')
  return (_after, cutoff) => {
    const job = select.get(cutoff) as { id: Uint8Array } | undefined
    if (job === undefined) return undefined
    if (Number(removeItems.run(job.id).changes) < stride) remove.run(job.id)
    return []
  }
}

/** Deletes resolved issues. They are few. */
function issueStep(db: DatabaseSync): Step {
  const remove = db.prepare("DELETE FROM issues WHERE state = 'resolved' AND resolved_at < ?")
  return (_after, cutoff) => {
    remove.run(cutoff)
    return undefined
  }
}
