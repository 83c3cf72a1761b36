/** Loads everything that a claimed task works with, in one read after the commit that claimed it. */

import type { DatabaseSync } from 'node:sqlite'
import { takeRows } from '../../bounded-rows.ts'
import type { DeliveryRecord, Id, NewTask, RunRecord, SetRoute, Work } from '../../port.ts'
import { blobOfId, createRowFinder } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import { createJoinedReader } from './coalescing.ts'
import { type EventRow, eventColumns, eventOf } from './events.ts'
import type { ParseHistory } from './histories.ts'
import { type RunRow, runColumns, runOf } from './runs.ts'
import { createRunnerStateReader, createTurnReader } from './sessions.ts'
import { createSpentReader } from './spending.ts'

/** `Work` with its records as rows and its history as JSON, from which the main thread makes records. */
export type PlainWork = Omit<Work, 'run' | 'delivery' | 'events' | 'history'> & {
  readonly run?: RunRow
  readonly delivery?: string
  readonly events: readonly EventRow[]
  /** The messages of each turn, oldest first. */
  readonly history: readonly string[]
}

export function workOf(
  { run, delivery, events, history, ...rest }: PlainWork,
  parseHistory: ParseHistory,
): Work {
  return {
    ...rest,
    history: parseHistory(run?.session ?? mainSession, history),
    ...(run && { run: runOf(run) }),
    ...(delivery !== undefined && { delivery: JSON.parse(delivery) }),
    events: events.map(eventOf),
  }
}

export type LoadWork = (task: NewTask, now: number) => PlainWork

/** The session in which heartbeats go on. */
const mainSession = 'main'
/** The most events that one heartbeat shows. */
const shownEvents = 50
/** The most UTF-16 units of JSON of events and of a session's history: far more than a turn is shown of either. */
const mostUnits = 2_097_152

export function createLoading(
  { db, counters, histories }: Pick<Parts, 'db' | 'counters' | 'histories'>,
  historyMessages: number,
): LoadWork {
  const findRun = createRowFinder<RunRow>(db, 'runs', ['id', ...runColumns])
  const selectDelivery = db.prepare('SELECT record FROM deliveries WHERE id = ?')
  const selectPending = db.prepare(
    `SELECT id, ${eventColumns.join(', ')} FROM events
     WHERE pending = 1 ORDER BY urgency, place LIMIT ${shownEvents}`,
  )
  const readTurns = createTurnReader(db, mostUnits)
  const readRunnerStates = createRunnerStateReader(db)
  const readSpent = createSpentReader(db)
  const joined = createJoinedReader(db)
  const readRoute = createRouteReader(db)

  const readNewest = (session: string) => readTurns(session, historyMessages)
  const historyOf = (session: string) => histories.read(session, readNewest).map(({ messages }) => messages)
  const rowOf = (id: Id) => findRun(blobOfId(id))

  return ({ kind, subject }, now) => {
    const common = { pending: { all: counters.pending, now: counters.pendingNow }, route: readRoute() }
    if (kind === 'heartbeat') {
      const pending = selectPending.iterate() as unknown as Iterable<EventRow>
      const { rows: events } = takeRows(pending, ({ text, prompt }) => text.length + prompt.length, mostUnits)
      return {
        ...common,
        events,
        history: historyOf(mainSession),
        runnerState: readRunnerStates(mainSession),
        spent: readSpent(now),
      }
    }
    const none = { ...common, events: [], history: [] }
    if (subject === undefined) return none
    if (kind === 'delivery') {
      const delivery = (selectDelivery.get(blobOfId(subject)) as { record: string } | undefined)?.record
      if (delivery === undefined) return none
      const { runId }: DeliveryRecord = JSON.parse(delivery)
      return { ...none, delivery, run: runId === undefined ? undefined : rowOf(runId) }
    }
    const run = rowOf(subject)
    if (run === undefined) return none
    return {
      ...none,
      run,
      history: historyOf(run.session),
      runnerState: readRunnerStates(run.session),
      spent: readSpent(now, budgetOf(run.draft)),
      ...(run.draft.includes('"coalesce":') && { ...joined.joined(subject), ofKey: joined.ofKey(subject) }),
    }
  }
}

/** Parses only drafts of runs with a budget, which are few. The search is safe: a quote inside a text would be escaped. */
function budgetOf(draft: string): string | undefined {
  return draft.includes('"budget":') ? (JSON.parse(draft) as RunRecord).budget : undefined
}

export function createRouteReader(db: DatabaseSync): () => SetRoute | undefined {
  const select = db.prepare('SELECT channel, target, set_by FROM route')
  return () => {
    const row = select.get() as { channel: string; target: string | null; set_by: string | null } | undefined
    if (row === undefined) return undefined
    const { channel, target, set_by: by } = row
    return { channel, ...(target !== null && { to: target }), ...(by && { by }) }
  }
}
