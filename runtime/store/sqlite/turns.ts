/** Owns reading a session's history. */

import type { DatabaseSync } from 'node:sqlite'
import type { SessionMessage } from '../port.ts'

/** The newest `limit` messages of a session, oldest first. */
export type ReadTurns = (session: string, limit: number) => SessionMessage[]

export function createTurnReader(db: DatabaseSync): ReadTurns {
  const select = db.prepare('SELECT messages FROM turns WHERE session = ? ORDER BY number DESC')
  return (session, limit) => {
    const turns: SessionMessage[][] = []
    let count = 0
    for (const row of select.iterate(session)) {
      if (count >= limit) break
      const turn = JSON.parse(row['messages'] as string) as SessionMessage[]
      turns.unshift(turn)
      count += turn.length
    }
    return turns.flat().slice(Math.max(0, count - limit))
  }
}
