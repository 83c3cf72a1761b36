/** Keeps sessions: their turns, one row that sums them up, and the state that runners store with them. */

import type { Statements } from '@reveille/kit'
import { takeRows } from '../bounded-rows.ts'
import type { Context } from '../context.ts'
import type { Effects, Id, SessionMessage, SessionSummary } from '../port.ts'
import { tables } from '../schema.ts'
import { firstRunOf } from '../task-keys.ts'
import { decodeString, encodeString, type RowValues } from './rows.ts'

type Turn = NonNullable<Effects['append']>[number]

export function sessionOf(row: { session: string; turns: number; last_at: number }): SessionSummary {
  return { key: decodeString(row.session), turns: row.turns, lastAt: row.last_at }
}

/** Appends turns, each once however often it is sent. */
export async function appendTurns(tx: Context, turns: readonly Turn[]): Promise<void> {
  if (turns.length === 0) return
  const { among, list } = tx.dialect
  const sessions = [...new Set(turns.map(({ session }) => encodeString(session)))]
  const [same, last] = await Promise.all([
    tx.all<{ session: string; turn: Id }>(
      `SELECT session, turn FROM turns WHERE turn IN ${among('?1', 'id')}`,
      [turns.map(({ turn }) => turn)],
    ),
    tx.all<{ session: string; number: number | null }>(
      `SELECT value AS session, (SELECT max(number) FROM turns WHERE session = list.value) AS number
       FROM ${list('?1', 'text')}`,
      [sessions],
    ),
  ])
  const storedTurns = new Set(same.map(({ session, turn }) => `${turn} ${session}`))
  const numbers = new Map(last.map(({ session, number }) => [session, number ?? 0]))
  const added: RowValues[] = []
  const changed = new Map<string, [session: string, turns: number, lastAt: number, isGenerated: number]>()
  for (const { session: text, turn, messages } of turns) {
    const session = encodeString(text)
    const at = messages.at(-1)?.at
    if (at === undefined || storedTurns.has(`${turn} ${session}`)) continue
    storedTurns.add(`${turn} ${session}`)
    const number = (numbers.get(session) ?? 0) + 1
    numbers.set(session, number)
    added.push([number, session, turn, at, JSON.stringify(messages)])
    const before = changed.get(session)?.[1] ?? 0
    changed.set(session, [session, before + 1, at, firstRunOf(text) === undefined ? 0 : 1])
  }
  const add =
    'ON CONFLICT (session) DO UPDATE SET turns = sessions.turns + excluded.turns, last_at = excluded.last_at'
  tx.later(tx.insert(tables.turns, added))
  tx.later(tx.insert(tables.sessions, [...changed.values()], add))
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

/** Keeps the last state of each runner and session. */
export function keepRunnerStates(tx: Context, states: readonly NonNullable<Effects['runnerState']>[]): void {
  const kept = new Map<string, RowValues>()
  for (const { session, runner, state } of states) {
    const key = [encodeString(session), encodeString(runner)] as const
    if (state !== undefined) kept.set(JSON.stringify(key), [...key, tx.now, encodeString(state)])
    else {
      kept.delete(JSON.stringify(key))
      tx.later(tx.run('DELETE FROM runner_states WHERE session = ?1 AND runner = ?2', key))
    }
  }
  const replace = 'ON CONFLICT (session, runner) DO UPDATE SET at = excluded.at, state = excluded.state'
  tx.later(tx.insert(tables.runner_states, [...kept.values()], replace))
}

/** Number of turns read at a time. A turn may be large, and most sessions have fewer. */
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
