/**
 * Stores sessions: their turns, one row that sums them up, and the state that runners store with them.
 *
 * A session has its row as long as it has a turn. Lists and idle expiry use that row and read no turns.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Effects, SessionMessage } from '../../port.ts'
import { firstRunOf } from '../../tasks.ts'
import { takeRows } from '../database/bounded-rows.ts'
import { blobOfId } from '../database/ids.ts'

type Turn = NonNullable<Effects['append']>[number]

export function createSessions(db: DatabaseSync) {
  const insertTurn = db.prepare(
    `INSERT INTO turns VALUES (?1, (SELECT ifnull(max(number), 0) + 1 FROM turns WHERE session = ?1), ?2, ?3, ?4)
     ON CONFLICT (session, turn) DO NOTHING`,
  )
  const countTurn = db.prepare(
    `INSERT INTO sessions VALUES (?, 1, ?, ?)
     ON CONFLICT (session) DO UPDATE SET turns = turns + 1, last_at = excluded.last_at`,
  )
  const selectNumber = db.prepare('SELECT number FROM turns WHERE session = ? AND turn = ?')
  const deleteThrough = db.prepare('DELETE FROM turns WHERE session = ? AND number <= ?')
  const insertSummary = db.prepare(
    'INSERT INTO turns VALUES (?, ?, ?, ?, ?) ON CONFLICT (session, turn) DO NOTHING',
  )
  const subtractTurns = db.prepare('UPDATE sessions SET turns = turns - ? WHERE session = ?')
  const deleteEmpty = db.prepare('DELETE FROM sessions WHERE session = ? AND turns <= 0')
  const upsertState = db.prepare('INSERT OR REPLACE INTO runner_states VALUES (?, ?, ?, ?)')
  const deleteState = db.prepare('DELETE FROM runner_states WHERE session = ? AND runner = ?')

  return {
    /** Appends a turn once, however often it is sent. */
    append({ session, turn, messages }: Turn) {
      const at = messages.at(-1)?.at
      if (at === undefined) return
      const { changes } = insertTurn.run(session, blobOfId(turn), at, JSON.stringify(messages))
      if (changes > 0) countTurn.run(session, at, firstRunOf(session) === undefined ? 0 : 1)
    },

    /** Has no effect if the session has no such turn, or no longer has it. */
    compact({ session, through, summary }: NonNullable<Effects['compact']>) {
      const row = selectNumber.get(session, blobOfId(through)) as { number: number } | undefined
      if (row === undefined) return
      let removed = Number(deleteThrough.run(session, row.number).changes)
      const at = summary?.messages.at(-1)?.at
      if (summary !== undefined && at !== undefined) {
        const [turn, messages] = [blobOfId(summary.turn), JSON.stringify(summary.messages)]
        // The number that just became free comes before all others.
        removed -= Number(insertSummary.run(session, row.number, turn, at, messages).changes)
      }
      subtractTurns.run(removed, session)
      deleteEmpty.run(session)
    },

    keepState({ session, runner, state }: NonNullable<Effects['runnerState']>, now: number) {
      if (state === undefined) deleteState.run(session, runner)
      else upsertState.run(session, runner, now, state)
    },
  }
}

export function createRunnerStateReader(db: DatabaseSync) {
  const select = db.prepare('SELECT runner, state FROM runner_states WHERE session = ?')
  return (session: string): Readonly<Record<string, string>> => {
    const rows = select.all(session) as unknown as { runner: string; state: string }[]
    return Object.fromEntries(rows.map(({ runner, state }) => [runner, state]))
  }
}

/** Returns the newest `limit` messages of a session, oldest first, as far as they fit `most` UTF-16 units of JSON. */
export function createTurnReader(db: DatabaseSync, most: number) {
  // A turn holds at least one message, so `limit` turns are enough.
  const select = db.prepare('SELECT messages FROM turns WHERE session = ? ORDER BY number DESC LIMIT ?')
  return (session: string, limit: number): SessionMessage[] => {
    const found = select.iterate(session, limit) as Iterable<{ messages: string }>
    const { rows } = takeRows(found, ({ messages }) => messages.length, most)
    const messages: SessionMessage[] = rows.toReversed().flatMap((row) => JSON.parse(row.messages))
    return messages.slice(Math.max(0, messages.length - limit))
  }
}
