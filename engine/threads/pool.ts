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

/** A worker's reports. */
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
  /** True if a job may run beside those that run, so that no sender gets all workers. */
  mayRun(job: Job, running: readonly Job[]): boolean
  gaveUp(job: Job): void
  /** Called when the last worker has ended. */
  onEmpty?(): void
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

export class Pool<Job> {
  readonly #options: PoolOptions<Job>
  readonly #members = new Set<Member<Job>>()
  readonly #queue: Waiting<Job>[] = []
  #growTimer: unknown

  constructor(options: PoolOptions<Job>) {
    this.#options = options
  }

  /** The number of workers, those included that are ending. */
  get size(): number {
    return this.#members.size
  }

  waiting(): readonly Job[] {
    return this.#queue.map(({ job }) => job)
  }

  add(job: Job): void {
    this.#queue.push(this.#wait(job))
    this.#dispatch()
  }

  /** Adds a job before all others, because its worker was ended. */
  addFirst(job: Job): void {
    this.#queue.unshift(this.#wait(job))
    this.#dispatch()
  }

  /** Starts a worker before there is a job, unless there is one. */
  prepare(): void {
    if (this.#members.size === 0) this.#addMember()
  }

  /** Removes all jobs that wait, and returns them. */
  clear(): readonly Job[] {
    return this.#remove(0, this.#queue.length)
  }

  endIdle(): void {
    for (const member of this.#members) if (member.state === 'idle') void this.#end(member)
  }

  /** Ends all workers. Returns the jobs that wait. */
  close(): { readonly waiting: readonly Job[]; readonly ended: Promise<unknown> } {
    this.#options.timers.clearTimeout(this.#growTimer)
    return { waiting: this.clear(), ended: Promise.all([...this.#members].map((each) => this.#end(each))) }
  }

  #dispatch(): void {
    for (;;) {
      const running = this.#runningJobs()
      const member = this.#inState('idle') ?? this.#grow(running)
      if (member?.state !== 'idle') return
      const index = this.#queue.findIndex(({ job }) => this.#options.mayRun(job, running))
      if (index === -1) return
      for (const job of this.#remove(index, 1)) {
        this.#occupy(member, job)
        member.worker.run(job)
      }
    }
  }

  #wait(job: Job): Waiting<Job> {
    const { waitMs } = this.#options
    const giveUp = () => {
      this.#queue.splice(this.#queue.indexOf(entry), 1)
      this.#options.gaveUp(job)
    }
    const timer = this.#options.timers.setTimeout(giveUp, typeof waitMs === 'number' ? waitMs : waitMs(job))
    const entry: Waiting<Job> = { job, timer }
    return entry
  }

  #remove(index: number, count: number): readonly Job[] {
    const removed = this.#queue.splice(index, count)
    for (const { timer } of removed) this.#options.timers.clearTimeout(timer)
    return removed.map(({ job }) => job)
  }

  #runningJobs(): readonly Job[] {
    return [...this.#members].flatMap(({ job }) => (job === undefined ? [] : [job]))
  }

  #inState(state: Member<Job>['state']): Member<Job> | undefined {
    for (const member of this.#members) if (member.state === state) return member
    return undefined
  }

  /** Adds a worker if a job waits for one: one at a time, so that a burst does not start more threads than there are processors. */
  #grow(running: readonly Job[], isLate = false): Member<Job> | undefined {
    const { growMs = 0 } = this.#options
    if (this.#members.size >= this.#options.maxWorkers || this.#inState('starting') !== undefined)
      return undefined
    if (!this.#queue.some(({ job }) => this.#options.mayRun(job, running))) return undefined
    const isFirst = [...this.#members].every(({ state }) => state === 'ending')
    if (isFirst || isLate || growMs === 0) return this.#addMember()
    this.#growTimer ??= this.#options.timers.setTimeout(() => {
      this.#growTimer = undefined
      if (this.#inState('idle') === undefined) this.#grow(this.#runningJobs(), true)
    }, growMs)
    return undefined
  }

  #addMember(): Member<Job> {
    const worker = this.#options.start({
      idle: () => this.#rest(member),
      claim: (job, goOn) => this.#claim(member, job, goOn),
      ended: () => void this.#end(member),
    })
    const state = worker.ready === undefined ? 'idle' : 'starting'
    const member: Member<Job> = { worker, state, job: undefined, idleTimer: undefined, claims: [] }
    this.#members.add(member)
    void worker.ready?.then(() => {
      if (member.state === 'starting') this.#beIdle(member)
    })
    return member
  }

  #occupy(member: Member<Job>, job: Job): void {
    this.#options.timers.clearTimeout(member.idleTimer)
    Object.assign(member, { state: 'busy', job })
  }

  #rest(member: Member<Job>): void {
    if (member.state !== 'busy') return
    const claimed = member.claims.shift()
    if (claimed === undefined) this.#beIdle(member)
    else {
      this.#occupy(member, claimed.job)
      claimed.goOn()
    }
  }

  #beIdle(member: Member<Job>): void {
    Object.assign(member, { state: 'idle', job: undefined })
    const ms = member.worker.idleMs ?? this.#options.idleMs
    if (ms < Number.POSITIVE_INFINITY)
      member.idleTimer = this.#options.timers.setTimeout(() => void this.#end(member), ms)
    this.#dispatch()
  }

  #claim(member: Member<Job>, job: Job, goOn: () => void): void {
    if (member.state === 'busy') member.claims.push({ job, goOn })
    if (member.state !== 'idle') return
    this.#occupy(member, job)
    goOn()
  }

  async #end(member: Member<Job>): Promise<void> {
    if (member.state === 'ending') return
    this.#options.timers.clearTimeout(member.idleTimer)
    Object.assign(member, { state: 'ending', job: undefined })
    await member.worker.end()
    this.#members.delete(member)
    this.#dispatch()
    if (this.#members.size === 0) this.#options.onEmpty?.()
  }
}
