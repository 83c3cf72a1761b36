/**
 * Deletes ended history older than `keepMs`, in slices of a couple of milliseconds inside transactions that are due anyway.
 *
 * A pass walks every table from its oldest row, by key, and stops at the age limit. It skips rows that are old and still
 * open. A request is deleted when nothing that it caused is left.
 */

import type { DatabaseSync } from 'node:sqlite'
import { dayMs, dayOf } from '../../day.ts'
import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../../port.ts'
import { blobOfId, blobOfTime } from '../database/id-blob.ts'
import { bytesInRow, type Counters } from '../records/counters.ts'
import { countWithoutEffect } from '../records/without-effect.ts'
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

export function createRetention(db: DatabaseSync, counters: Counters, options: RetentionOptions) {
  const { elapsed = () => performance.now() } = options
  // A record is deleted before what it belongs to: deliveries before their run, runs and events before their request.
  const steps: readonly Step[] = [
    deliveryStep(db),
    runStep(db),
    eventStep(db),
    requestStep(db, counters),
    turnStep(db),
    idleStep(db, options),
    runnerStateStep(db),
    dedupeStep(db),
    spentStep(db),
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

interface RecordRow {
  readonly id: Uint8Array
  readonly record: string
  readonly bytes: number
}

/** Walks a table of records by id, below the ids of the age limit. `bytes` is SQL for the bytes of a row beside its record. */
function recordStep(
  db: DatabaseSync,
  table: string,
  isGone: (record: string, cutoff: number, bytes: number) => boolean,
  bytes = '0',
): Step {
  const select = db.prepare(
    `SELECT id, record, ${bytes} AS bytes FROM ${table} WHERE id > ? AND id < ? ORDER BY id LIMIT ${stride}`,
  )
  const remove = db.prepare(`DELETE FROM ${table} WHERE id = ?`)
  return (after, cutoff) => {
    const rows = select.all(after?.[0] ?? blobOfTime(0), blobOfTime(cutoff)) as unknown as RecordRow[]
    for (const row of rows) if (isGone(row.record, cutoff, row.bytes)) remove.run(row.id)
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.id]
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
  return recordStep(db, 'runs', (record, cutoff) => {
    const run = JSON.parse(record) as RunRecord
    const ended = run.state !== 'queued' && run.state !== 'running'
    const isGone = ended && (run.ranAt ?? run.cancelledAt ?? run.createdAt) < cutoff && !isOpen(run)
    if (isGone && run.coalesce !== undefined) {
      removeJoined.run(blobOfId(run.id))
      removeCoalesced.run(blobOfId(run.id))
    }
    return isGone
  })
}

function eventStep(db: DatabaseSync): Step {
  return recordStep(db, 'events', (record, cutoff) => {
    const event = JSON.parse(record) as EventRecord
    return event.state === 'consumed' && (event.consumedAt ?? event.createdAt) < cutoff
  })
}

function deliveryStep(db: DatabaseSync): Step {
  return recordStep(db, 'deliveries', (record, cutoff) => {
    const delivery = JSON.parse(record) as DeliveryRecord
    return delivery.state !== 'pending' && (delivery.endedAt ?? delivery.createdAt) < cutoff
  })
}

function requestStep(db: DatabaseSync, counters: Counters): Step {
  const effect = db.prepare('SELECT 1 FROM runs WHERE id = ?1 UNION ALL SELECT 1 FROM events WHERE id = ?1')
  const isGone = (record: string, _cutoff: number, bytes: number) => {
    const { outcome, actions } = JSON.parse(record) as RequestRecord
    if (actions.some((action) => effect.get(blobOfId(action.id)) !== undefined)) return false
    countWithoutEffect(counters, outcome, bytes, -1)
    return true
  }
  return recordStep(db, 'requests', isGone, bytesInRow)
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

/** Deletes old days. Two days always stay, for a clock that is set back. */
function spentStep(db: DatabaseSync): Step {
  const remove = db.prepare('DELETE FROM spent WHERE day < ?')
  return (_after, cutoff, now) => {
    remove.run(dayOf(Math.max(0, Math.min(cutoff, now - 2 * dayMs))))
    return undefined
  }
}
