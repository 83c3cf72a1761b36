/** Loads everything that claimed tasks work with. */

import type { Dialect, Statements } from '@reveille/kit'
import { takeRows } from './bounded-rows.ts'
import { readRoute } from './commands.ts'
import type { NewTask, RunRecord, TaskKind, Work } from './port.ts'
import { readJoined } from './records/coalescing.ts'
import { decodeString, type EventRow, encodeString, eventOf, wholeEvent } from './records/rows.ts'
import { readRecords } from './records/runs.ts'
import { readMessages } from './records/sessions.ts'
import { readDay, spentOn } from './records/spending.ts'

/** The session in which heartbeats go on. */
const mainSession = 'main'
/** Maximum number of events that one heartbeat shows. */
const maxEvents = 50
/** Maximum length of events and of a session's history as JSON, in UTF-16 units: far more than a turn gets. */
const maxUnits = 2_097_152

export interface LoadOptions {
  readonly dialect: Pick<Dialect, 'among'>
  readonly now: number
  /** Pending events, in all and of those that asked for a heartbeat now. */
  readonly pending: Work['pending']
  readonly historyMessages: number
}

/** Loads the work of tasks together, in their order. */
export async function loadWorks(
  statements: Statements,
  tasks: readonly Pick<NewTask, 'kind' | 'subject'>[],
  options: LoadOptions,
): Promise<readonly Work[]> {
  const { dialect, now } = options
  const hasHeartbeat = tasks.some(({ kind }) => kind === 'heartbeat')
  const subjectsOf = (kind: TaskKind) =>
    tasks.flatMap((task) => (task.kind === kind && task.subject !== undefined ? task.subject : []))
  const [route, today, events, own, deliveries] = await Promise.all([
    readRoute(statements),
    readDay(statements, now),
    hasHeartbeat ? pendingEvents(statements) : [],
    readRecords('runs', statements, dialect, subjectsOf('run')),
    readRecords('deliveries', statements, dialect, subjectsOf('delivery')),
  ])
  const sessions = [...own.values()].map(({ sessionKey }) => sessionKey)
  const [sent, ofSession, joined] = await Promise.all([
    readRecords(
      'runs',
      statements,
      dialect,
      [...deliveries.values()].flatMap(({ runId }) => runId ?? []),
    ),
    readSessions(statements, hasHeartbeat ? [...sessions, mainSession] : sessions, options),
    readAllJoined(statements, [...own.values()]),
  ])
  const none: Work = { pending: pendingOf(options, events), ...(route && { route }), events: [], history: [] }
  return tasks.map(({ kind, subject = '' }) => {
    if (kind === 'heartbeat')
      return { ...none, events, ...ofSession(mainSession), spent: spentOn(today, undefined) }
    const delivery = deliveries.get(subject)
    const run = kind === 'delivery' ? sent.get(delivery?.runId ?? '') : own.get(subject)
    if (kind === 'delivery') return { ...none, ...(delivery && { delivery }), ...(run && { run }) }
    if (run === undefined) return none
    const spent = spentOn(today, run.budget)
    return { ...none, run, ...ofSession(run.sessionKey), spent, ...joined.get(run.id) }
  })
}

/** The counts of several nodes can be short for a moment. Events that were read are pending for certain. */
function pendingOf({ pending }: LoadOptions, events: Work['events']): Work['pending'] {
  const urgent = events.filter(({ mode }) => mode === 'now').length
  return { all: Math.max(pending.all, events.length), now: Math.max(pending.now, urgent) }
}

/** Returns what finds history and runner states of one of these sessions. */
async function readSessions(
  statements: Statements,
  keys: readonly string[],
  { dialect: { among }, historyMessages }: LoadOptions,
): Promise<(key: string) => Pick<Work, 'history' | 'runnerState'>> {
  if (keys.length === 0) return () => ({ history: [] })
  const names = [...new Set(keys.map(encodeString))]
  const [states, withTurns] = await Promise.all([
    statements.all<{ session: string; runner: string; state: string }>(
      `SELECT session, runner, state FROM runner_states WHERE session IN ${among('?1', 'text')}`,
      [names],
    ),
    statements.all<{ session: string }>(
      `SELECT session FROM sessions WHERE session IN ${among('?1', 'text')}`,
      [names],
    ),
  ])
  const histories = new Map(
    await Promise.all(
      withTurns.map(async ({ session }) => {
        const messages = await readMessages(statements, decodeString(session), historyMessages, maxUnits)
        return [session, messages] as const
      }),
    ),
  )
  return (key) => {
    const name = encodeString(key)
    const own = states.filter(({ session }) => session === name)
    return {
      history: histories.get(name) ?? [],
      runnerState: Object.fromEntries(
        own.map(({ runner, state }) => [decodeString(runner), decodeString(state)]),
      ),
    }
  }
}

async function readAllJoined(statements: Statements, runs: readonly RunRecord[]) {
  const coalesced = runs.filter(({ coalesce }) => coalesce !== undefined)
  return new Map(
    await Promise.all(coalesced.map(async ({ id }) => [id, await readJoined(statements, id)] as const)),
  )
}

async function pendingEvents({ all }: Statements): Promise<Work['events']> {
  const rows = await all<EventRow>(
    `SELECT ${wholeEvent} FROM events WHERE pending = 1 ORDER BY urgency, id LIMIT ${maxEvents}`,
  )
  return takeRows(rows, ({ record }) => record.length, maxUnits).rows.map(eventOf)
}
