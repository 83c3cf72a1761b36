/**
 * The oracle of the random walk: a model of what a store must do, in the plainest code there is. Runs and deliveries in a
 * map, and lanes are found by examining all of them, without an index and without a disk.
 */

import type { Id } from '../../port.ts'
import { firstRunOf, laneOf } from '../../task-keys.ts'

/** The state of a run's or delivery's task; `none`: it has no task. */
type TaskState = 'open' | 'claimed' | 'none'

/** A run, or a delivery that an operator sent. */
export interface Known {
  readonly id: Id
  readonly kind: 'run' | 'delivery'
  readonly key?: string
  pool?: string
  lane: string | undefined
  /** Its place in its lane. */
  place: number
  dueAt: number
  deadline: number
  taskState: TaskState
  parked: boolean
  /** Its texts were erased. */
  forgotten: boolean
  wasClaimed: boolean
  /** Number of requests that became this run. */
  count: number
  /** True if its open claim was notified of a cancel. */
  cancelled: boolean
}

export interface Asked {
  readonly id: Id
  /** Absent if the session key is generated. */
  readonly sessionKey?: string
  readonly pool?: string
  readonly key?: string
  readonly dueAt: number
  readonly deadline: number
  readonly busy: boolean
}

export interface Oracle {
  readonly runs: ReadonlyMap<Id, Known>
  accept(asked: Asked, now: number): { readonly outcome: 'accepted' | 'joined' | 'busy'; readonly id: Id }
  /** Returns whether it may be claimed now, limits of pools aside. */
  mayClaim(run: Known, now: number): boolean
  claim(run: Known): void
  /** Settles the task as done. */
  finish(run: Known): void
  again(run: Known, at: number): void
  /** Returns true if the run ended at once. */
  cancel(run: Known): boolean
  /** Returns false for a run that is not queued again, because it was forgotten. */
  resume(run: Known, now: number): boolean
  /** Forgets the runs of a request. Returns false if one of them is open, and then nothing is forgotten. */
  forget(ids: readonly Id[]): boolean
  send(asked: { readonly id: Id; readonly lane: string; readonly pool: string; readonly dueAt: number }): void
  /** Replays a delivery, perhaps to another recipient and so in another lane. */
  replay(delivery: Known, to: { readonly lane: string; readonly pool: string }, now: number): void
  /** Ends all claims, as a restart does. */
  reopen(): void
  setBack(ms: number): void
  backlog(): number
}

export function createOracle(): Oracle {
  const runs = new Map<Id, Known>()
  /** The newest run of each coalesce key. */
  const newest = new Map<string, Known>()
  let places = 0

  const inLane = (lane: string) =>
    [...runs.values()].filter((run) => run.lane === lane && run.taskState !== 'none')

  function headOf(lane: string): Known | undefined {
    return inLane(lane).sort((a, b) => a.place - b.place)[0]
  }

  /** A second run of a session with a generated key waits for the first one. */
  function adopt(lane: string): void {
    const first = runs.get(firstRunOf(lane.slice(laneOf('').length)) ?? '')
    if (first === undefined || first.taskState === 'none' || first.lane !== undefined) return
    if (inLane(lane).length === 0) first.lane = lane
  }

  function isOccupied(lane: string): boolean {
    const first = runs.get(firstRunOf(lane.slice(laneOf('').length)) ?? '')
    return inLane(lane).length > 0 || (first !== undefined && first.taskState !== 'none')
  }

  return {
    runs,
    accept({ id, sessionKey, key, dueAt, deadline, busy, pool }, now) {
      const open = key === undefined ? undefined : newest.get(key)
      if (open !== undefined && open.taskState === 'open' && !open.wasClaimed) {
        if (open.dueAt > now) open.dueAt = Math.min(dueAt, open.deadline)
        open.count += 1
        return { outcome: 'joined', id: open.id }
      }
      const lane = sessionKey === undefined ? undefined : laneOf(sessionKey)
      if (busy && lane !== undefined && isOccupied(lane)) return { outcome: 'busy', id }
      if (lane !== undefined) adopt(lane)
      places += 1
      const run: Known = {
        id,
        kind: 'run',
        lane,
        dueAt,
        deadline,
        place: places,
        taskState: 'open',
        parked: false,
        forgotten: false,
        wasClaimed: false,
        count: 1,
        cancelled: false,
        ...(key !== undefined && { key }),
        ...(pool !== undefined && { pool }),
      }
      runs.set(id, run)
      if (key !== undefined) newest.set(key, run)
      return { outcome: 'accepted', id }
    },
    mayClaim(run, now) {
      const isFirst = run.lane === undefined || headOf(run.lane) === run
      return run.taskState === 'open' && run.dueAt <= now && isFirst
    },
    claim(run) {
      run.taskState = 'claimed'
      run.wasClaimed = true
      // The next claim finds the cancel on its record.
      run.cancelled = false
    },
    finish(run) {
      run.taskState = 'none'
    },
    again(run, at) {
      run.taskState = 'open'
      run.dueAt = at
    },
    cancel(run) {
      if (run.taskState === 'claimed') {
        run.cancelled = true
        return false
      }
      run.taskState = 'none'
      run.parked = false
      return true
    },
    resume(run, now) {
      if (run.forgotten) return false
      const own = laneOf(`hook:${run.id}`)
      const lane = run.lane ?? own
      run.lane = lane !== own || isOccupied(lane) ? lane : undefined
      if (run.lane !== undefined) adopt(run.lane)
      places += 1
      run.place = places
      run.taskState = 'open'
      run.dueAt = now
      run.parked = false
      if (run.key !== undefined && newest.get(run.key) === run) newest.delete(run.key)
      return true
    },
    forget(ids) {
      const all = ids.flatMap((id) => runs.get(id) ?? [])
      if (all.some(({ taskState }) => taskState !== 'none')) return false
      for (const run of all) run.forgotten = true
      return true
    },
    send({ id, lane, pool, dueAt }) {
      places += 1
      runs.set(id, {
        id,
        kind: 'delivery',
        lane,
        pool,
        dueAt,
        deadline: dueAt,
        place: places,
        taskState: 'open',
        parked: false,
        forgotten: false,
        wasClaimed: false,
        count: 1,
        cancelled: false,
      })
    },
    replay(delivery, { lane, pool }, now) {
      places += 1
      Object.assign(delivery, { lane, pool, place: places, taskState: 'open', dueAt: now, parked: false })
    },
    reopen() {
      for (const run of runs.values()) if (run.taskState === 'claimed') run.taskState = 'open'
    },
    setBack(ms) {
      for (const run of runs.values()) {
        run.dueAt -= ms
        run.deadline -= ms
      }
    },
    backlog: () => [...runs.values()].filter(({ taskState }) => taskState !== 'none').length,
  }
}
