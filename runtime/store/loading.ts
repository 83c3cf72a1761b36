/** Loads everything that the task of a claim works with. */

import type { Dialect, Statements } from '@reveille/kit'
import { takeRows } from './bounded-rows.ts'
import { readRoute } from './commands.ts'
import type { NewTask, Work } from './port.ts'
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

export async function loadWork(
  statements: Statements,
  { kind, subject = '' }: Pick<NewTask, 'kind' | 'subject'>,
  options: LoadOptions,
): Promise<Work> {
  const { dialect, now, pending } = options
  const recordOf = async <Kind extends 'runs' | 'deliveries'>(of: Kind, id = '') =>
    (await readRecords(of, statements, dialect, [id])).get(id)
  const [route, delivery] = await Promise.all([
    readRoute(statements),
    kind === 'delivery' ? recordOf('deliveries', subject) : undefined,
  ])
  const run = kind === 'heartbeat' ? undefined : await recordOf('runs', delivery ? delivery.runId : subject)
  const work = {
    pending,
    ...(route && { route }),
    ...(delivery && { delivery }),
    ...(run && { run }),
    events: [],
    history: [],
  }
  const session = kind === 'heartbeat' ? mainSession : run?.sessionKey
  if (kind === 'delivery' || session === undefined) return work
  const [events, ofSession, today, joined] = await Promise.all([
    kind === 'heartbeat' ? pendingEvents(statements) : [],
    readSession(statements, session, options),
    readDay(statements, now),
    run?.coalesce && readJoined(statements, run.id),
  ])
  const spent = spentOn(today, run?.budget)
  return { ...work, pending: atLeast(pending, events), events, ...ofSession, spent, ...joined }
}

/** The counts of several nodes can be short for a moment. Events that were read are pending for certain. */
function atLeast(pending: Work['pending'], events: Work['events']): Work['pending'] {
  const urgent = events.filter(({ mode }) => mode === 'now').length
  return { all: Math.max(pending.all, events.length), now: Math.max(pending.now, urgent) }
}

async function readSession(
  statements: Statements,
  key: string,
  { historyMessages }: LoadOptions,
): Promise<Pick<Work, 'history' | 'runnerState'>> {
  const [states, history] = await Promise.all([
    statements.all<{ runner: string; state: string }>(
      'SELECT runner, state FROM runner_states WHERE session = ?1',
      [encodeString(key)],
    ),
    readMessages(statements, key, historyMessages, maxUnits),
  ])
  const decoded = states.map(({ runner, state }) => [decodeString(runner), decodeString(state)])
  return { history, runnerState: Object.fromEntries(decoded) }
}

async function pendingEvents({ all }: Statements): Promise<Work['events']> {
  const rows = await all<EventRow>(
    `SELECT ${wholeEvent} FROM events WHERE pending = 1 ORDER BY urgency, id LIMIT ${maxEvents}`,
  )
  return takeRows(rows, ({ record }) => record.length, maxUnits).rows.map(eventOf)
}
