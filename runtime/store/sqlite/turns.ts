/** Owns reading a session's history. */

import type { DatabaseSync } from 'node:sqlite'
import type { SessionMessage } from '../port.ts'
import { takeRows } from './bounded-rows.ts'

/** The newest `limit` messages of a session, oldest first, as far as they fit `most` UTF-16 units of JSON. */
export type ReadTurns = (session: string, limit: number) => SessionMessage[]

export function createTurnReader(db: DatabaseSync, most: number): ReadTurns {
  // A turn holds a message at least.
  const select = db.prepare('SELECT messages FROM turns WHERE session = ? ORDER BY number DESC LIMIT ?')
  return (session, limit) => {
    const found = select.iterate(session, limit) as Iterable<{ messages: string }>
    const { rows } = takeRows(found, ({ messages }) => messages.length, most)
    const messages: SessionMessage[] = rows.toReversed().flatMap((row) => JSON.parse(row.messages))
    return messages.slice(Math.max(0, messages.length - limit))
  }
}
