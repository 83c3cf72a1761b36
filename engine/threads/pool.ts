/**
 * Gives jobs to a few workers, which start when a job first needs one. A worker is always in one of these states:
 *
 * busy <-> idle -> ending (idle for too long) -> ended
 *      -> ending (by its owner, or lost) -> ended
 *
 * One that is ending keeps its place, because its thread may be in native code, and the job goes back to the queue. A worker
 * may put a job aside that waits for something, be idle meanwhile, and claim itself for the job later.
 */

import type { Timers } from '../timers.ts'
import { createJobQueue } from './queue.ts'

export interface PoolWorker<Job> {
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
  readonly maxWorkers: number
  /** A worker ends after this long without a job. Milliseconds. */
  readonly idleMs: number
  /** A job that has waited this long is given up. Milliseconds. */
  readonly waitMs: number
  start(events: WorkerEvents<Job>): PoolWorker<Job>
  /** Whether a job may run beside those that run, so that no sender gets all workers. */
  mayRun(job: Job, running: readonly Job[]): boolean
  gaveUp(job: Job): void
}

export interface Pool<Job> {
  waiting(): readonly Job[]
  add(job: Job): void
  /** Adds a job before all others, because its worker was ended. */
  addFirst(job: Job): void
  /** Ends all workers. Returns the jobs that wait. */
  close(): { readonly waiting: readonly Job[]; readonly ended: Promise<unknown> }
}

interface Member<Job> {
  readonly worker: PoolWorker<Job>
  state: 'idle' | 'busy' | 'ending'
  job: Job | undefined
  idleTimer: unknown
  readonly claims: { readonly job: Job; readonly goOn: () => void }[]
}

export function createPool<Job>(options: PoolOptions<Job>): Pool<Job> {
  const { timers, maxWorkers, idleMs, waitMs, start, mayRun, gaveUp } = options
  const members = new Set<Member<Job>>()
  const queue = createJobQueue(timers, gaveUp)

  function dispatch(): void {
    for (;;) {
      const running = [...members].flatMap(({ job }) => (job === undefined ? [] : [job]))
      if (!hasFreePlace()) return
      const job = queue.take((each) => mayRun(each, running))
      if (job === undefined) return
      const member = freeMember()
      occupy(member, job)
      member.worker.run(job)
    }
  }

  function hasFreePlace(): boolean {
    return members.size < maxWorkers || [...members].some(({ state }) => state === 'idle')
  }

  function occupy(member: Member<Job>, job: Job): void {
    timers.clearTimeout(member.idleTimer)
    Object.assign(member, { state: 'busy', job })
  }

  function freeMember(): Member<Job> {
    for (const member of members) if (member.state === 'idle') return member
    const worker = start({
      idle: () => rest(member),
      claim: (job, goOn) => claim(member, job, goOn),
      ended: () => void end(member),
    })
    const member: Member<Job> = { worker, state: 'idle', job: undefined, idleTimer: undefined, claims: [] }
    members.add(member)
    return member
  }

  function rest(member: Member<Job>): void {
    if (member.state !== 'busy') return
    const claimed = member.claims.shift()
    if (claimed !== undefined) {
      occupy(member, claimed.job)
      claimed.goOn()
      return
    }
    Object.assign(member, { state: 'idle', job: undefined })
    member.idleTimer = timers.setTimeout(() => void end(member), idleMs)
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
  }

  return {
    waiting: () => queue.jobs(),
    add(job) {
      queue.add(job, waitMs)
      dispatch()
    },
    addFirst(job) {
      queue.addFirst(job, waitMs)
      dispatch()
    },
    close: () => ({ waiting: queue.clear(), ended: Promise.all([...members].map(end)) }),
  }
}
