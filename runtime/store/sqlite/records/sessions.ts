/**
 * Stores sessions: their turns, one row that sums them up, and the state that runners store with them.
 *
 * A session has its row as long as it has a turn. Lists and idle expiry use that row and read no turns.
 */

import type { DatabaseSync } from 'node:sqlite'
import { takeRows } from '../../bounded-rows.ts'
import type { Effects, Id } from '../../port.ts'
import { firstRunOf } from '../../tasks.ts'
import { blobOfId, idOfBlob, placeOfBlob, placeOfTime, timeOfPlace } from '../database/ids.ts'
import type { Histories, KeptTurn } from './histories.ts'

type Turn = NonNullable<Effects['append']>[number]

export function createSessions(db: DatabaseSync, histories: Histories) {
  // A turn lies behind the place of its own id, so a search for it passes only what was appended to its session since.
  const selectSame = db.prepare('SELECT 1 FROM turns WHERE session = ? AND place >= ? AND turn = ?')
  const insertTurn = db.prepare(
    'INSERT INTO turns VALUES (max(?1, (SELECT ifnull(max(place) + 1, ?1) FROM turns)), ?2, ?3, ?4, ?5)',
  )
  const countTurn = db.prepare(
    `INSERT INTO sessions VALUES (?, 1, ?, ?)
     ON CONFLICT (session) DO UPDATE SET turns = turns + 1, last_at = excluded.last_at`,
  )
  const selectPlace = db.prepare('SELECT place FROM turns WHERE session = ? AND turn = ? ORDER BY place')
  const deleteThrough = db.prepare('DELETE FROM turns WHERE session = ? AND place <= ?')
  const deleteTurn = db.prepare('DELETE FROM turns WHERE session = ? AND turn = ?')
  const insertSummary = db.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?)')
  const subtractTurns = db.prepare('UPDATE sessions SET turns = turns - ? WHERE session = ?')
  const deleteEmpty = db.prepare('DELETE FROM sessions WHERE session = ? AND turns <= 0')
  const upsertState = db.prepare('INSERT OR REPLACE INTO runner_states VALUES (?, ?, ?, ?)')
  const deleteState = db.prepare('DELETE FROM runner_states WHERE session = ? AND runner = ?')

  return {
    /** Appends a turn once, however often it is sent. */
    append({ session, turn, messages }: Turn) {
      const at = messages.at(-1)?.at
      if (at === undefined) return
      const id = blobOfId(turn)
      const place = placeOfBlob(id)
      if (selectSame.get(session, placeOfTime(timeOfPlace(place)), id) !== undefined) return
      const text = JSON.stringify(messages)
      insertTurn.run(place, session, id, at, text)
      histories.append(session, { turn, messages: text })
      countTurn.run(session, at, firstRunOf(session) === undefined ? 0 : 1)
    },

    /** Has no effect if the session has no such turn, or no longer has it. */
    compact({ session, through, summary }: NonNullable<Effects['compact']>) {
      const row = selectPlace.get(session, blobOfId(through)) as { place: number } | undefined
      if (row === undefined) return
      let removed = Number(deleteThrough.run(session, row.place).changes)
      const at = summary?.messages.at(-1)?.at
      let kept: KeptTurn | undefined
      if (summary !== undefined && at !== undefined) {
        kept = { turn: summary.turn, messages: JSON.stringify(summary.messages) }
        // The place that just became free comes before all others.
        insertSummary.run(row.place, session, blobOfId(kept.turn), at, kept.messages)
        removed -= 1
      }
      histories.compact(session, through, kept)
      subtractTurns.run(removed, session)
      deleteEmpty.run(session)
    },

    /** Deletes a turn, because what it says is forgotten. */
    forget(session: string, turn: Id) {
      const removed = Number(deleteTurn.run(session, blobOfId(turn)).changes)
      if (removed === 0) return
      histories.clear()
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

/** How many turns are read at a time. A turn may be large, and most sessions have fewer. */
const turnsInSlice = 32

/**
 * Returns a session's newest turns with their messages as JSON, the oldest turn first, as far as they fit `most` UTF-16 units. They
 * hold at least `limit` messages, if there are as many.
 */
export function createTurnReader(db: DatabaseSync, most: number) {
  const select = db.prepare(
    `SELECT place, turn, messages FROM turns WHERE session = ? AND place < ? ORDER BY place DESC LIMIT ${turnsInSlice}`,
  )

  // Slices, because an iterator costs ten times as much as reading a session that has no turn yet.
  function* newestFirst(session: string, limit: number): Generator<KeptTurn> {
    let before = Number.MAX_SAFE_INTEGER
    // A turn holds at least one message, so `limit` turns are enough.
    for (let left = limit; left > 0; ) {
      const rows = select.all(session, before) as unknown as (Omit<KeptTurn, 'turn'> & {
        place: number
        turn: Uint8Array
      })[]
      for (const { place, turn, messages } of rows) {
        yield { turn: idOfBlob(turn), messages }
        before = place
      }
      left = rows.length < turnsInSlice ? 0 : left - rows.length
    }
  }

  return (session: string, limit: number): KeptTurn[] => {
    const { rows } = takeRows(newestFirst(session, limit), ({ messages }) => messages.length, most)
    return rows.reverse()
  }
}
