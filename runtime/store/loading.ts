/** Loads everything that a claimed task works with. */

import type { Statements } from '@reveille/kit'
import { takeRows } from './bounded-rows.ts'
import { readRoute } from './commands.ts'
import type { NewTask, RunRecord, Work } from './port.ts'
import { readJoined } from './records/coalescing.ts'
import { decodeString, type EventRow, encodeString, eventOf, wholeEvent } from './records/rows.ts'
import { readDelivery, readRun } from './records/runs.ts'
import { readMessages } from './records/sessions.ts'
import { readSpent } from './records/spending.ts'

/** The session in which heartbeats go on. */
const mainSession = 'main'
/** The most events that one heartbeat shows. */
const maxEvents = 50
/** The most UTF-16 units of JSON of events and of a session's history: far more than a turn is shown of either. */
const maxUnits = 2_097_152

export interface LoadOptions {
  readonly now: number
  /** Pending events, in all and of those that asked for a heartbeat now. */
  readonly pending: Work['pending']
  readonly historyMessages: number
}

export async function loadWork(
  statements: Statements,
  { kind, subject }: Pick<NewTask, 'kind' | 'subject'>,
  options: LoadOptions,
): Promise<Work> {
  const [route, run] = await Promise.all([
    readRoute(statements),
    kind === 'run' && subject !== undefined ? readRun(statements, subject) : undefined,
  ])
  const none: Work = { pending: options.pending, ...(route && { route }), events: [], history: [] }
  if (kind === 'heartbeat') {
    const events = await pendingEvents(statements)
    return { ...none, events, ...(await readSession(statements, mainSession, undefined, options)) }
  }
  if (subject === undefined) return none
  if (kind === 'delivery') {
    const delivery = await readDelivery(statements, subject)
    if (delivery === undefined) return none
    const by = delivery.runId === undefined ? undefined : await readRun(statements, delivery.runId)
    return { ...none, delivery, ...(by && { run: by }) }
  }
  if (run === undefined) return none
  return {
    ...none,
    run,
    ...(await readSession(statements, run.sessionKey, run.budget, options)),
    ...(run.coalesce !== undefined && (await readJoined(statements, run.id))),
  }
}

async function readSession(
  statements: Statements,
  session: string,
  budget: RunRecord['budget'],
  { now, historyMessages }: LoadOptions,
): Promise<Pick<Work, 'history' | 'runnerState' | 'spent'>> {
  const [history, runnerState, spent] = await Promise.all([
    readMessages(statements, session, historyMessages, maxUnits),
    readRunnerStates(statements, session),
    readSpent(statements, now, budget),
  ])
  return { history, runnerState, spent }
}

async function pendingEvents({ all }: Statements): Promise<Work['events']> {
  const rows = await all<EventRow>(
    `SELECT ${wholeEvent} FROM events WHERE pending = 1 ORDER BY urgency, id LIMIT ${maxEvents}`,
  )
  return takeRows(rows, ({ record }) => record.length, maxUnits).rows.map(eventOf)
}

async function readRunnerStates(
  { all }: Statements,
  session: string,
): Promise<Readonly<Record<string, string>>> {
  const rows = await all<{ runner: string; state: string }>(
    'SELECT runner, state FROM runner_states WHERE session = ?1',
    [encodeString(session)],
  )
  return Object.fromEntries(rows.map(({ runner, state }) => [decodeString(runner), decodeString(state)]))
}
