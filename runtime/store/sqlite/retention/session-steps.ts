/**
 * Deletes what is old of sessions: turns, whole idle sessions, and the state that runners stored with sessions that have no
 * turn any more.
 */

import type { DatabaseSync } from 'node:sqlite'
import { firstTaskOf, laneOf } from '../../tasks.ts'
import { placeOfTime } from '../database/ids.ts'
import type { Histories } from '../records/histories.ts'

export type Key = readonly (string | number | Uint8Array)[]

/** Examines up to `stride` rows after `after`. Returns the last key it examined, or `undefined` at the end of the table. */
export type Step = (after: Key | undefined, cutoff: number, now: number) => Key | undefined

/** How many rows a step examines before the time is checked again. */
export const stride = 20

/** How many turns are deleted at one time: a session may have very many, each with long messages. */
const mostTurns = 100

interface TurnRow {
  readonly place: number
  readonly session: string
  readonly at: number
}

interface SessionRow {
  readonly session: string
  readonly last_at: number
}

/** Deletes turns of a session. Returns whether it has none left. */
type ForgetTurns = (session: string) => boolean

export function turnStep(db: DatabaseSync, histories: Histories): Step {
  // A summary lies before turns that are older than itself, and stays.
  const select = db.prepare(
    `SELECT place, session, at FROM turns WHERE place > ? AND place < ? ORDER BY place LIMIT ${stride}`,
  )
  const remove = db.prepare('DELETE FROM turns WHERE place = ?')
  const subtract = createSubtract(db)
  return (after, cutoff) => {
    const from = after?.[0] ?? Number.MIN_SAFE_INTEGER
    const rows = select.all(from, placeOfTime(cutoff)) as unknown as TurnRow[]
    for (const { place, session, at } of rows) {
      if (at >= cutoff) continue
      remove.run(place)
      subtract(session, 1)
      histories.clear()
    }
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.place]
  }
}

/**
 * Deletes a session with a generated key whole, once its last turn is older than `sessionIdleMs`. A session with a queued or
 * running run stays. The walk goes by the time of the last turn.
 */
export function idleStep(
  db: DatabaseSync,
  histories: Histories,
  options: { readonly sessionIdleMs?: number },
): Step {
  const select = db.prepare(
    `SELECT session, last_at FROM sessions
     WHERE made_up = 1 AND (last_at, session) > (?, ?) AND last_at < ? ORDER BY last_at, session LIMIT ${stride}`,
  )
  const inLane = db.prepare('SELECT 1 FROM lanes WHERE lane = ? LIMIT 1')
  const task = db.prepare('SELECT 1 FROM tasks WHERE key = ?')
  const removeStates = db.prepare('DELETE FROM runner_states WHERE session = ?')
  const forgetTurns = createForgetTurns(db)

  const isOpen = (lane: string) =>
    inLane.get(lane) !== undefined || task.get(firstTaskOf(lane) ?? '') !== undefined

  return (after, _cutoff, now) => {
    const { sessionIdleMs } = options
    if (sessionIdleMs === undefined) return undefined
    let [lastAt = 0, last = ''] = after ?? []
    const rows = select.all(lastAt, last, now - sessionIdleMs) as unknown as SessionRow[]
    for (const row of rows) {
      if (!isOpen(laneOf(row.session))) {
        histories.clear()
        if (!forgetTurns(row.session)) return [lastAt, last]
        removeStates.run(row.session)
      }
      lastAt = row.last_at
      last = row.session
    }
    return rows.length < stride ? undefined : [lastAt, last]
  }
}

/** Deletes old runner states of sessions without turns. */
export function runnerStateStep(db: DatabaseSync): Step {
  const select = db.prepare(
    `SELECT session, runner, at FROM runner_states WHERE (session, runner) > (?, ?)
     ORDER BY session, runner LIMIT ${stride}`,
  )
  const hasTurns = db.prepare('SELECT 1 FROM sessions WHERE session = ?')
  const remove = db.prepare('DELETE FROM runner_states WHERE session = ? AND runner = ?')
  return (after, cutoff) => {
    const [session = '', runner = ''] = after ?? []
    const rows = select.all(session, runner) as unknown as { session: string; runner: string; at: number }[]
    for (const row of rows) {
      if (row.at < cutoff && hasTurns.get(row.session) === undefined) remove.run(row.session, row.runner)
    }
    const last = rows.at(-1)
    return rows.length < stride || last === undefined ? undefined : [last.session, last.runner]
  }
}

function createForgetTurns(db: DatabaseSync): ForgetTurns {
  const remove = db.prepare(
    `DELETE FROM turns WHERE place IN
     (SELECT place FROM turns WHERE session = ? ORDER BY place LIMIT ${mostTurns})`,
  )
  const subtract = createSubtract(db)
  return (session) => {
    const removed = Number(remove.run(session).changes)
    subtract(session, removed)
    return removed < mostTurns
  }
}

function createSubtract(db: DatabaseSync): (session: string, turns: number) => void {
  const subtract = db.prepare('UPDATE sessions SET turns = turns - ? WHERE session = ? RETURNING turns')
  const remove = db.prepare('DELETE FROM sessions WHERE session = ?')
  return (session, turns) => {
    const row = subtract.get(turns, session) as { turns: number } | undefined
    if (row !== undefined && row.turns <= 0) remove.run(session)
  }
}
