/** Loads everything that a claimed task works with, in one read after the commit that claimed it. */

import type { DatabaseSync } from 'node:sqlite'
import type { DeliveryRecord, NewTask, Route, RunRecord, Work } from '../../port.ts'
import { takeRows } from '../database/bounded-rows.ts'
import { blobOfId } from '../database/id-blob.ts'
import { createJoinedReader } from './coalescing.ts'
import type { Counters } from './counters.ts'
import { createRunnerStateReader, createTurnReader } from './sessions.ts'
import { createSpentReader } from './spending.ts'

/** `Work` with its records still serialised. They are parsed once, on the main thread. */
export type PlainWork = Omit<Work, 'run' | 'delivery' | 'events'> & {
  readonly run?: string
  readonly delivery?: string
  readonly events: readonly string[]
}

export type LoadWork = (task: NewTask, now: number) => PlainWork

/** The most events that one heartbeat shows. */
const shownEvents = 50
/** The most UTF-16 units of JSON of events and of a session's history: far more than a turn is shown of either. */
const mostUnits = 2_097_152

interface RecordRow {
  readonly record: string
}

export function createLoading(db: DatabaseSync, counters: Counters, historyMessages: number): LoadWork {
  const selectRun = db.prepare('SELECT record, session FROM runs WHERE id = ?')
  const selectDelivery = db.prepare('SELECT record FROM deliveries WHERE id = ?')
  const selectPending = db.prepare(
    `SELECT events.record AS record FROM (SELECT rank, id FROM inbox ORDER BY rank, id LIMIT ${shownEvents}) AS shown
     JOIN events ON events.id = shown.id ORDER BY shown.rank, shown.id`,
  )
  const readTurns = createTurnReader(db, mostUnits)
  const readRunnerStates = createRunnerStateReader(db)
  const readSpent = createSpentReader(db)
  const joined = createJoinedReader(db)
  const readRoute = createRouteReader(db)

  const runOf = (id: string) => selectRun.get(blobOfId(id)) as (RecordRow & { session: string }) | undefined

  return ({ kind, subject }, now) => {
    const common = { pending: { all: counters.pending, now: counters.pendingNow }, route: readRoute() }
    if (kind === 'heartbeat') {
      const pending = selectPending.iterate() as unknown as Iterable<RecordRow>
      const events = takeRows(pending, ({ record }) => record.length, mostUnits).rows.map((row) => row.record)
      return {
        ...common,
        events,
        history: readTurns('main', historyMessages),
        runnerState: readRunnerStates('main'),
        spent: readSpent(now),
      }
    }
    const none = { ...common, events: [], history: [] }
    if (subject === undefined) return none
    if (kind === 'delivery') {
      const delivery = (selectDelivery.get(blobOfId(subject)) as RecordRow | undefined)?.record
      if (delivery === undefined) return none
      const { runId }: DeliveryRecord = JSON.parse(delivery)
      return { ...none, delivery, run: runId === undefined ? undefined : runOf(runId)?.record }
    }
    const run = runOf(subject)
    if (run === undefined) return none
    return {
      ...none,
      run: run.record,
      history: readTurns(run.session, historyMessages),
      runnerState: readRunnerStates(run.session),
      spent: readSpent(now, budgetOf(run.record)),
      ...(run.record.includes('"coalesce":') && { ...joined.joined(subject), ofKey: joined.ofKey(subject) }),
    }
  }
}

/** Parses only records of runs with a budget, which are few. The search is safe: a quote inside a text would be escaped. */
function budgetOf(record: string): string | undefined {
  return record.includes('"budget":') ? (JSON.parse(record) as RunRecord).budget : undefined
}

export function createRouteReader(db: DatabaseSync): () => Route | undefined {
  const select = db.prepare('SELECT channel, target FROM route')
  return () => {
    const row = select.get() as { channel: string; target: string | null } | undefined
    if (row === undefined) return undefined
    return row.target === null ? { channel: row.channel } : { channel: row.channel, to: row.target }
  }
}
