/** Remembers the pools of the queue, so that a process looks for tasks only where some may be due. */

import type { TaskKind } from '../port.ts'

export interface Pool {
  readonly kind: TaskKind
  /** Encoded. */
  readonly pool: string
}

export interface Place extends Pool {
  /** None of its ready tasks is due before. */
  readonly dueAt: number
  /** None of its tasks can be claimed until one ends, or another node gives it up. In what was noted: nothing was heard of that. */
  readonly isFull: boolean
}

export type Places = Map<string, Place>

export const nameOf = ({ kind, pool }: Pool): string => `${kind}:${pool}`

/** Adds what was noted of a pool: a task that may be due, or that there is room for one. */
export function lower(places: Places, { kind, pool, dueAt, isFull }: Place): void {
  const name = nameOf({ kind, pool })
  const before = places.get(name)
  places.set(name, {
    kind,
    pool,
    dueAt: Math.min(dueAt, before?.dueAt ?? Number.POSITIVE_INFINITY),
    isFull: isFull && before?.isFull !== false,
  })
}
