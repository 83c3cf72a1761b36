/**
 * Gives jobs to a few workers, which start when a job first needs one. A worker is always in one of these states:
 *
 * starting -> idle <-> busy
 * any -> ending (idle for too long, by its owner, or lost) -> ended
 *
 * One that is ending keeps its place, because its thread may be in native code, and the job goes back to the queue. A worker
 * may put a job aside that waits for something, be idle meanwhile, and claim itself for the job later.
 */

import type { Timers } from '../timers.ts'

export interface PoolWorker<Job> {
  /** Jobs wait until this is resolved. Default: it can run a job at once. */
  readonly ready?: Promise<unknown>
  /** It ends after this long without a job, unless that is infinite. Milliseconds. Default: that of the pool. */
  readonly idleMs?: number
  /** Called on an idle worker alone. */
  run(job: Job): void
  /** Resolves when its thread has ended. */
  end(): Promise<void>
}

/** What a worker reports. */
export interface WorkerEvents<Job> {
  /** It can run another job. */
  idle(): void
  /** Calls `goOn` when the worker is idle, before any job that waits. */
  claim(job: Job, goOn: () => void): void
  /** It runs no further job. */
  ended(): void
}

export interface PoolOptions<Job> {
  readonly timers: Timers
  /** Read each time that a worker may be added. */
  readonly maxWorkers: number
  /** A worker ends after this long without a job. Milliseconds. */
  readonly idleMs: number
  /** A job that has waited this long is given up. Milliseconds. */
  readonly waitMs: number | ((job: Job) => number)
  /** A worker is added to others when a job has waited this long, as most wait for less. Milliseconds. Default: 0. */
  readonly growMs?: number
  start(events: WorkerEvents<Job>): PoolWorker<Job>
  /** Whether a job may run beside those that run, so that no sender gets all workers. */
  mayRun(job: Job, running: readonly Job[]): boolean
  gaveUp(job: Job): void
  /** Called when the last worker has ended. */
  onEmpty?(): void
}

export interface Pool<Job> {
  /** The number of workers, those included that are ending. */
  readonly size: number
  waiting(): readonly Job[]
  add(job: Job): void
  /** Adds a job before all others, because its worker was ended. */
  addFirst(job: Job): void
  /** Starts a worker before there is a job, unless there is one. */
  prepare(): void
  /** Removes all jobs that wait, and returns them. */
  clear(): readonly Job[]
  endIdle(): void
  /** Ends all workers. Returns the jobs that wait. */
  close(): { readonly waiting: readonly Job[]; readonly ended: Promise<unknown> }
}

interface Waiting<Job> {
  readonly job: Job
  readonly timer: unknown
}

interface Member<Job> {
  readonly worker: PoolWorker<Job>
  state: 'starting' | 'idle' | 'busy' | 'ending'
  job: Job | undefined
  idleTimer: unknown
  readonly claims: { readonly job: Job; readonly goOn: () => void }[]
}

export function createPool<Job>(options: PoolOptions<Job>): Pool<Job> {
  const { timers, idleMs, growMs = 0, start, mayRun, gaveUp, onEmpty } = options
  const members = new Set<Member<Job>>()
  const queue: Waiting<Job>[] = []
  let growTimer: unknown

  function dispatch(): void {
    for (;;) {
      const running = runningJobs()
      const member = inState('idle') ?? grow(running)
      if (member?.state !== 'idle') return
      const index = queue.findIndex(({ job }) => mayRun(job, running))
      if (index === -1) return
      for (const job of remove(index, 1)) {
        occupy(member, job)
        member.worker.run(job)
      }
    }
  }

  function wait(job: Job): Waiting<Job> {
    const { waitMs } = options
    const giveUp = () => {
      queue.splice(queue.indexOf(entry), 1)
      gaveUp(job)
    }
    const timer = timers.setTimeout(giveUp, typeof waitMs === 'number' ? waitMs : waitMs(job))
    const entry: Waiting<Job> = { job, timer }
    return entry
  }

  function remove(index: number, count: number): readonly Job[] {
    const removed = queue.splice(index, count)
    for (const { timer } of removed) timers.clearTimeout(timer)
    return removed.map(({ job }) => job)
  }

  function runningJobs(): readonly Job[] {
    return [...members].flatMap(({ job }) => (job === undefined ? [] : [job]))
  }

  function inState(state: Member<Job>['state']): Member<Job> | undefined {
    for (const member of members) if (member.state === state) return member
    return undefined
  }

  /** Adds a worker if a job waits for one: one at a time, so that a burst does not start more threads than there are processors. */
  function grow(running: readonly Job[], isLate = false): Member<Job> | undefined {
    if (members.size >= options.maxWorkers || inState('starting') !== undefined) return undefined
    if (!queue.some(({ job }) => mayRun(job, running))) return undefined
    const isFirst = [...members].every(({ state }) => state === 'ending')
    if (isFirst || isLate || growMs === 0) return addMember()
    growTimer ??= timers.setTimeout(() => {
      growTimer = undefined
      if (inState('idle') === undefined) grow(runningJobs(), true)
    }, growMs)
    return undefined
  }

  function addMember(): Member<Job> {
    const worker = start({
      idle: () => rest(member),
      claim: (job, goOn) => claim(member, job, goOn),
      ended: () => void end(member),
    })
    const state = worker.ready === undefined ? 'idle' : 'starting'
    const member: Member<Job> = { worker, state, job: undefined, idleTimer: undefined, claims: [] }
    members.add(member)
    void worker.ready?.then(() => {
      if (member.state === 'starting') beIdle(member)
    })
    return member
  }

  function occupy(member: Member<Job>, job: Job): void {
    timers.clearTimeout(member.idleTimer)
    Object.assign(member, { state: 'busy', job })
  }

  function rest(member: Member<Job>): void {
    if (member.state !== 'busy') return
    const claimed = member.claims.shift()
    if (claimed === undefined) beIdle(member)
    else {
      occupy(member, claimed.job)
      claimed.goOn()
    }
  }

  function beIdle(member: Member<Job>): void {
    Object.assign(member, { state: 'idle', job: undefined })
    const ms = member.worker.idleMs ?? idleMs
    if (ms < Number.POSITIVE_INFINITY) member.idleTimer = timers.setTimeout(() => void end(member), ms)
    dispatch()
  }

  function claim(member: Member<Job>, job: Job, goOn: () => void): void {
    if (member.state === 'busy') member.claims.push({ job, goOn })
    if (member.state !== 'idle') return
    occupy(member, job)
    goOn()
  }

  async function end(member: Member<Job>): Promise<void> {
    if (member.state === 'ending') return
    timers.clearTimeout(member.idleTimer)
    Object.assign(member, { state: 'ending', job: undefined })
    await member.worker.end()
    members.delete(member)
    dispatch()
    if (members.size === 0) onEmpty?.()
  }

  return {
    get size() {
      return members.size
    },
    waiting: () => queue.map(({ job }) => job),
    add(job) {
      queue.push(wait(job))
      dispatch()
    },
    addFirst(job) {
      queue.unshift(wait(job))
      dispatch()
    },
    prepare() {
      if (members.size === 0) addMember()
    },
    clear: () => remove(0, queue.length),
    endIdle() {
      for (const member of members) if (member.state === 'idle') void end(member)
    },
    close() {
      timers.clearTimeout(growTimer)
      return { waiting: remove(0, queue.length), ended: Promise.all([...members].map(end)) }
    },
  }
}
