/**
 * Bounds what requests leave on disk: how many without effect are stored, and how many bytes of bodies, heads and traces. A
 * sender can send such requests without end, and `keepMs` bounds only what comes slowly.
 */

import type { DatabaseSync } from 'node:sqlite'
import { mostBodyBytesByDefault, mostWithoutEffectByDefault, withoutEffect } from '../../counters.ts'
import type { StoreLimits, StoreOptions } from '../../port.ts'
import { placeOfTime } from '../database/ids.ts'
import { bytesInRow, type Counters } from './counters.ts'

/** How many bodies go for one request that comes: a large one may need the room of many small ones. */
const mostDropped = 1_000

export type Bounds = ReturnType<typeof createBounds>

interface Sized {
  readonly place: number
  readonly bytes: number
}

export function createBounds(
  db: DatabaseSync,
  counters: Counters,
  limits: Pick<StoreLimits, 'mostBodyBytes' | 'ignoredBodiesMs'> & Pick<StoreOptions, 'mostWithoutEffect'>,
) {
  // Two go for each one that comes, so that a surplus shrinks. The second condition makes SQLite use the partial index.
  const removeOldest = db.prepare(
    `DELETE FROM requests WHERE place IN
      (SELECT place FROM requests WHERE outcome = ? AND outcome <> 'accepted' ORDER BY place LIMIT min(2, ?))
      RETURNING place, ${bytesInRow} AS bytes`,
  )
  const selectBody = db.prepare(
    `SELECT place, ${bytesInRow} AS bytes FROM requests INDEXED BY requests_with_body
      WHERE body IS NOT NULL ORDER BY place LIMIT 1`,
  )
  const selectBrief = db.prepare(
    `SELECT place, ${bytesInRow} AS bytes FROM requests INDEXED BY requests_with_brief_body
      WHERE body IS NOT NULL AND outcome IN ('ignored', 'skipped') AND place < ? ORDER BY place LIMIT ?`,
  )
  const selectTrace = db.prepare(
    'SELECT place, octet_length(trace) AS bytes FROM traces ORDER BY place LIMIT 1',
  )
  const removeBody = db.prepare('UPDATE requests SET body = NULL, head = NULL WHERE place = ?')
  const removeTrace = db.prepare('DELETE FROM traces WHERE place = ? RETURNING octet_length(trace) AS bytes')

  function dropTrace(place: number): void {
    const row = removeTrace.get(place) as { bytes: number } | undefined
    counters.bodyBytes -= row?.bytes ?? 0
  }

  function dropBody({ place, bytes }: Sized): void {
    removeBody.run(place)
    counters.bodyBytes -= bytes
  }

  /** Deletes the oldest bodies of ignored and skipped requests before a place, at most so many. Returns how many those were. */
  function dropBrief(before: number, most: number): number {
    const found = selectBrief.all(before, most) as unknown as Sized[]
    for (const each of found) dropBody(each)
    return found.length
  }

  function dropOldest(): boolean {
    if (limits.ignoredBodiesMs !== undefined && dropBrief(Number.MAX_SAFE_INTEGER, 1) > 0) return true
    const body = selectBody.get() as Sized | undefined
    const trace = selectTrace.get() as Sized | undefined
    if (body !== undefined && body.place <= (trace?.place ?? body.place)) dropBody(body)
    if (trace !== undefined && trace.place <= (body?.place ?? trace.place)) dropTrace(trace.place)
    return body !== undefined || trace !== undefined
  }

  /** Counts a request that is gone. `bytes` are those of its body and its head. */
  function removed(place: number, outcome: string, bytes: number): void {
    const known = withoutEffect(outcome)
    if (known !== undefined) counters[known] -= 1
    counters.bodyBytes -= bytes
    dropTrace(place)
  }

  return {
    /** Counts a request that was just written, and deletes the oldest ones over the bounds. `bytes` counts all that is kept of it. */
    added(outcome: string, bytes: number) {
      counters.bodyBytes += bytes
      const known = withoutEffect(outcome)
      if (known !== undefined) {
        counters[known] += 1
        const surplus = counters[known] - (limits.mostWithoutEffect ?? mostWithoutEffectByDefault)
        if (surplus > 0) {
          for (const row of removeOldest.all(outcome, surplus) as unknown as Sized[])
            removed(row.place, outcome, row.bytes)
        }
      }
      this.dropBodies(mostDropped)
    },

    removed,

    /** Deletes the oldest bodies, heads and traces, at most so many. Returns whether more of them have to go. */
    dropBodies(most: number): boolean {
      const limit = limits.mostBodyBytes ?? mostBodyBytesByDefault
      for (let dropped = 0; counters.bodyBytes > limit; dropped += 1) {
        if (dropped === most) return true
        if (!dropOldest()) return false
      }
      return false
    },

    /** Deletes bodies that were to be kept for a short while, at most so many. Returns whether more of them have to go. */
    dropBriefBodies(now: number, most: number): boolean {
      const { ignoredBodiesMs } = limits
      if (ignoredBodiesMs === undefined) return false
      return dropBrief(placeOfTime(now - ignoredBodiesMs), most) === most
    },

    /** Deletes what is kept of one request. */
    forget(place: number, bytes: number) {
      dropBody({ place, bytes })
      dropTrace(place)
    },
  }
}
