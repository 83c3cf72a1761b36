/** Keeps sessions: their turns, one row that sums them up, and the state that runners store with them. */

import type { Statements } from '@reveille/kit'
import { takeRows } from '../bounded-rows.ts'
import type { Context } from '../context.ts'
import type { Effects, Id, SessionMessage, SessionSummary } from '../port.ts'
import { tables } from '../schema.ts'
import { firstRunOf } from '../task-keys.ts'
import { decodeString, encodeString } from './rows.ts'

type Turn = NonNullable<Effects['append']>[number]

export function sessionOf(row: { session: string; turns: number; last_at: number }): SessionSummary {
  return { key: decodeString(row.session), turns: row.turns, lastAt: row.last_at }
}

/** Appends a turn once, however often it is sent. */
export async function appendTurn(tx: Context, { session: text, turn, messages }: Turn): Promise<void> {
  const at = messages.at(-1)?.at
  if (at === undefined) return
  const session = encodeString(text)
  const [same] = await tx.all('SELECT 1 FROM turns WHERE turn = ?1 AND session = ?2', [turn, session])
  if (same !== undefined) return
  const [last] = await tx.all<{ number: number | null }>(
    'SELECT max(number) AS number FROM turns WHERE session = ?1',
    [session],
  )
  await tx.insert(tables.turns, [[(last?.number ?? 0) + 1, session, turn, at, JSON.stringify(messages)]])
  await tx.run(
    `INSERT INTO sessions (session, turns, last_at, is_generated) VALUES (?1, 1, ?2, ?3)
     ON CONFLICT (session) DO UPDATE SET turns = sessions.turns + 1, last_at = excluded.last_at`,
    [session, at, firstRunOf(text) === undefined ? 0 : 1],
  )
}

/** Has no effect if the session has no such turn, or no longer has it. */
export async function compactSession(
  tx: Context,
  { session: text, through, summary }: NonNullable<Effects['compact']>,
): Promise<void> {
  const session = encodeString(text)
  const [row] = await tx.all<{ number: number }>(
    'SELECT number FROM turns WHERE session = ?1 AND turn = ?2 ORDER BY number',
    [session, through],
  )
  if (row === undefined) return
  const removed = await tx.run('DELETE FROM turns WHERE session = ?1 AND number <= ?2', [session, row.number])
  const at = summary?.messages.at(-1)?.at
  const isReplaced = summary !== undefined && at !== undefined
  if (isReplaced)
    await tx.insert(tables.turns, [[row.number, session, summary.turn, at, JSON.stringify(summary.messages)]])
  await subtractTurns(tx, session, removed - (isReplaced ? 1 : 0))
}

/** Deletes a turn, because its messages are forgotten. */
export async function forgetTurn(tx: Context, session: string, turn: Id): Promise<void> {
  const key = encodeString(session)
  await subtractTurns(
    tx,
    key,
    await tx.run('DELETE FROM turns WHERE session = ?1 AND turn = ?2', [key, turn]),
  )
}

/** Counts deleted turns. A session without turns has no row. `session` is encoded. */
export async function subtractTurns(tx: Context, session: string, turns: number): Promise<void> {
  if (turns === 0) return
  await tx.run('UPDATE sessions SET turns = turns - ?1 WHERE session = ?2', [turns, session])
  await tx.run('DELETE FROM sessions WHERE session = ?1 AND turns <= 0', [session])
}

export async function keepRunnerState(
  tx: Context,
  { session: text, runner, state }: NonNullable<Effects['runnerState']>,
): Promise<void> {
  const key = [encodeString(text), encodeString(runner)] as const
  await tx.run('DELETE FROM runner_states WHERE session = ?1 AND runner = ?2', key)
  if (state !== undefined) await tx.insert(tables.runner_states, [[...key, tx.now, encodeString(state)]])
}

/** How many turns are read at a time. A turn may be large, and most sessions have fewer. */
const turnsPerRead = 32

/** Returns a session's newest messages, oldest first: at most `limit`, and whole turns as far as they fit `maxUnits` UTF-16 units of JSON. */
export async function readMessages(
  { all }: Statements,
  session: string,
  limit: number,
  maxUnits: number,
): Promise<SessionMessage[]> {
  const turns: { readonly messages: string }[] = []
  let before = Number.MAX_SAFE_INTEGER
  // A turn holds at least one message, so `limit` turns are enough.
  while (turns.length < limit) {
    const rows = await all<{ number: number; messages: string }>(
      `SELECT number, messages FROM turns WHERE session = ?1 AND number < ?2 ORDER BY number DESC LIMIT ${turnsPerRead}`,
      [encodeString(session), before],
    )
    turns.push(...rows)
    before = rows.at(-1)?.number ?? 0
    const { isCut } = takeRows(turns, ({ messages }) => messages.length, maxUnits)
    if (rows.length < turnsPerRead || isCut) break
  }
  const { rows } = takeRows(turns, ({ messages }) => messages.length, maxUnits)
  return rows
    .toReversed()
    .flatMap(({ messages }): SessionMessage[] => JSON.parse(messages))
    .slice(-limit)
}
