/** Loads everything that claimed tasks work with, for all claims of a batch together. */

import type { ClaimedTask, DeliveryRecord, Id, NewTask, RunRecord, SessionMessage, Work } from '../port.ts'
import { nothingSpent } from '../spending.ts'
import { generatedSessionKey, laneOf } from '../tasks.ts'
import { joinedWork } from './joined.ts'
import type { Query } from './parts.ts'
import { bounded, readRoute, readTurns } from './reader.ts'
import {
  columnOfText,
  type DeliveryRow,
  deliveryColumns,
  deliveryOf,
  type EventRow,
  eventColumns,
  eventOf,
  type RunRow,
  runColumns,
  runOf,
  textOfColumn,
} from './rows.ts'
import { readSpentToday } from './spending.ts'

/** The session in which heartbeats go on. */
const mainSession = 'main'
/** The most events that one heartbeat shows. */
const shownEvents = 50
/** The most bytes of JSON of events and of a session's history: far more than a turn is shown of either. */
const mostBytes = 4_194_304

export interface LoadingOptions {
  readonly now: number
  readonly historyMessages: number
  /** The pending events, by this node's count. A heartbeat has them counted. */
  readonly pending: Work['pending']
}

/** Loads the work of each task, in their order. */
export async function loadWork(
  query: Query,
  tasks: readonly NewTask[],
  options: LoadingOptions,
): Promise<Work[]> {
  if (tasks.length === 0) return []
  const subjectsOf = (kind: ClaimedTask['kind']) =>
    tasks.flatMap((task) => (task.kind === kind && task.subject !== undefined ? [task.subject] : []))
  const hasTurns = tasks.some(({ kind }) => kind === 'run' || kind === 'heartbeat')
  const sessions = new Map<string, Promise<Session>>()
  const sessionOf = (key: string) => {
    const known = sessions.get(key) ?? readSession(query, key, options.historyMessages)
    sessions.set(key, known)
    return known
  }
  // What is likely needed is asked for together, before any answer has come.
  const runs = readRuns(query, subjectsOf('run'))
  const deliveries = readDeliveries(query, subjectsOf('delivery'))
  const route = readRoute(query)
  const spent = hasTurns ? readSpentToday(query, options.now) : undefined
  const inbox = tasks.some(({ kind }) => kind === 'heartbeat') ? readInbox(query) : undefined
  for (const task of tasks) {
    const key = likelySession(task)
    if (key !== undefined) void sessionOf(key)
  }
  const all = [runs, deliveries, route, spent, inbox, ...sessions.values()]
  for (const each of all) each?.catch(() => undefined)
  const ofDeliveries = await readRuns(
    query,
    [...(await deliveries).values()].flatMap(({ runId }) => runId ?? []),
  )
  const common = { route: await route, pending: options.pending }
  const none = { ...common, events: [], history: [] }

  async function workOf(task: NewTask): Promise<Work> {
    const { kind, subject } = task
    if (kind === 'heartbeat') {
      const { history, runnerState } = await sessionOf(mainSession)
      const { events, pending } = (await inbox) as Inbox
      const { day, all: total } = (await spent) as NonNullable<Awaited<typeof spent>>
      return { ...common, events, pending, history, runnerState, spent: { day, all: total } } as Work
    }
    if (subject === undefined) return none as Work
    if (kind === 'delivery') {
      const delivery = (await deliveries).get(subject)
      if (delivery === undefined) return none as Work
      const { runId } = delivery
      const run = runId === undefined ? undefined : ofDeliveries.get(runId)
      return { ...none, delivery, ...(run && { run }) } as Work
    }
    const run = (await runs).get(subject)
    if (run === undefined) return none as Work
    const { history, runnerState } = await sessionOf(run.sessionKey)
    const { day, all: total, budgets } = (await spent) as NonNullable<Awaited<typeof spent>>
    const ofBudget = run.budget === undefined ? {} : { budget: budgets[run.budget] ?? nothingSpent }
    const joined = run.coalesce === undefined ? undefined : await joinedWork(query, subject)
    return { ...none, run, history, runnerState, spent: { day, all: total, ...ofBudget }, ...joined } as Work
  }

  return Promise.all(tasks.map(workOf))
}

/** A run without a lane is nearly always the first one of a session with a generated key. */
function likelySession({ kind, lane, subject }: NewTask): string | undefined {
  if (kind === 'heartbeat') return mainSession
  if (kind !== 'run' || subject === undefined) return undefined
  return lane === undefined ? generatedSessionKey(subject) : lane.slice(laneOf('').length)
}

async function readRuns(query: Query, ids: readonly Id[]): Promise<Map<Id, RunRecord>> {
  if (ids.length === 0) return new Map()
  const rows = await query<RunRow>(`SELECT ${runColumns.join(', ')} FROM runs WHERE id = ANY($1::uuid[])`, [
    ids,
  ])
  return new Map(rows.map((row) => [row.id, runOf(row)]))
}

async function readDeliveries(query: Query, ids: readonly Id[]): Promise<Map<Id, DeliveryRecord>> {
  if (ids.length === 0) return new Map()
  const rows = await query<DeliveryRow>(
    `SELECT ${deliveryColumns.join(', ')} FROM deliveries WHERE id = ANY($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, deliveryOf(row)]))
}

interface Session {
  readonly history: readonly SessionMessage[]
  readonly runnerState: Readonly<Record<string, string>>
}

async function readSession(query: Query, key: string, limit: number): Promise<Session> {
  const states = query<{ runner: string; state: string }>(
    'SELECT runner, state FROM runner_states WHERE session = $1',
    [columnOfText(key)],
  )
  const turns = await readTurns(query, key, limit, mostBytes)
  const messages = turns.flatMap((turn): SessionMessage[] => JSON.parse(turn.messages))
  return {
    history: messages.slice(Math.max(0, messages.length - limit)),
    runnerState: Object.fromEntries(
      (await states).map(({ runner, state }) => [textOfColumn(runner), textOfColumn(state)]),
    ),
  }
}

interface Inbox {
  readonly events: Work['events']
  readonly pending: Work['pending']
}

async function readInbox(query: Query): Promise<Inbox> {
  const page = `SELECT ${eventColumns.join(', ')}, octet_length(draft) AS bytes FROM events
    WHERE pending ORDER BY urgent DESC, id LIMIT ${shownEvents}`
  const events = query<EventRow>(bounded(page, eventColumns, { most: mostBytes, order: 'urgent DESC, id' }))
  const [counts] = await query<{ all: number; now: number }>(
    'SELECT count(*) AS all, count(*) FILTER (WHERE urgent) AS now FROM events WHERE pending',
  )
  return { events: (await events).map(eventOf), pending: { all: counts?.all ?? 0, now: counts?.now ?? 0 } }
}
