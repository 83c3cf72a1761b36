/**
 * Runs the calls of one bundle in a pool of workers. While a snapshot holds the set, a worker waits a minute for its next call; one that only
 * tests and dry runs have called waits a second, and so does any without a snapshot.
 */

import type { TransformLimits } from '../../config/settings.ts'
import { Pool, type PoolWorker, type WorkerEvents } from '../../threads/pool.ts'
import type { TransformEvent } from '../port.ts'
import { busy, type Call, loadFailureOf, secondsOf } from './call.ts'
import { type Loaded, ModuleWorker, type ModuleWorkerOptions, type WorkerOwner } from './module-worker.ts'
import type { WorkerThreads } from './worker-threads.ts'

/** A worker is added when a call has waited this long, which most calls do not. */
const growMs = 5
const idleMs = 60_000
const shortIdleMs = 1_000
/** A module that takes longer to load stays loaded once it was called, since a call that waits for it might not be answered in time. */
const residentLoadMs = 1_000
/** Added to the waiting time of a call for which the first worker must start. */
const startMs = 5_000
const maxWaiting = 1_000

/** `module` is the first that had this bundle. */
export interface WorkerSetOptions extends Omit<ModuleWorkerOptions, 'thread' | 'owner'> {
  readonly threads: WorkerThreads
  onEvent(event: TransformEvent): void
  /** Is called when no worker, call or holder is left. */
  onEmpty(): void
}

export class WorkerSet {
  /** The result of the last load; absent before that. */
  loaded: Loaded | undefined
  readonly #options: WorkerSetOptions
  readonly #pool: Pool<Call>
  #loading: Promise<Loaded> | undefined
  /** The limits of the last call or holder. */
  #limits: TransformLimits = { timeoutMs: 0, memoryMb: 0, concurrency: 1 }
  #holders = 0
  readonly #stuck = Promise.withResolvers<void>()
  #isClosed = false

  constructor(options: WorkerSetOptions) {
    this.#options = options
    const concurrency = () => this.#limits.concurrency
    this.#pool = new Pool<Call>({
      timers: options.timers,
      idleMs,
      growMs,
      get maxWorkers() {
        return concurrency()
      },
      waitMs: ({ limits }) => limits.timeoutMs + (this.#pool.size === 0 ? startMs : 0),
      start: (events) => this.#start(events),
      mayRun: () => true,
      gaveUp: (call) => call.reject(busy(call, `was not reached within ${secondsOf(call.limits.timeoutMs)}`)),
      onEmpty: () => this.#disposeIfUnused(),
    })
  }

  /** Keeps workers for a snapshot, until this calls `release`. */
  hold(wanted: TransformLimits): void {
    this.#holders++
    this.#limits = wanted
  }

  release(): void {
    this.#holders--
    if (this.#holders > 0 || this.#isClosed) return
    this.#pool.endIdle()
    this.#disposeIfUnused()
  }

  /** Resolves when a worker has loaded the module, or failed to. */
  async load(): Promise<Loaded> {
    this.#pool.prepare()
    return this.#loading ?? { ok: false, error: { text: 'was not loaded', isSentence: true } }
  }

  call(call: Call): void {
    this.#limits = call.limits
    if (this.#pool.waiting().length >= maxWaiting)
      call.reject(busy(call, `has ${maxWaiting} calls waiting already`))
    else this.#pool.add(call)
  }

  /** Ends everything; calls that wait or run are rejected. Does not wait for a thread that cannot be ended. */
  close(): Promise<unknown> {
    this.#isClosed = true
    const { waiting, ended } = this.#pool.close()
    for (const each of waiting) each.reject(busy(each, 'was not begun before the gateway stopped'))
    return Promise.race([ended, this.#stuck.promise])
  }

  #start({ idle, ended }: WorkerEvents<Call>): PoolWorker<Call> {
    const { module, threads, onEvent } = this.#options
    const owner: WorkerOwner = {
      idle,
      ended,
      lost: (reason) => onEvent({ type: 'worker-lost', module, reason }),
      abandoned: () => {
        onEvent({ type: 'worker-abandoned', module })
        this.#stuck.resolve()
      },
    }
    const worker = new ModuleWorker({ ...this.#options, thread: threads.take(), owner })
    this.#loading = worker.load(this.#limits.memoryMb)
    let loadMs = 0
    const ready = this.#loading.then((result) => {
      this.loaded = result
      if (result.ok) loadMs = result.loadMs
      else this.#failWaiting(result)
    })
    let wasCalled = false
    let isServing = false
    const isHeld = () => this.#holders > 0
    return {
      ready,
      get idleMs() {
        if (!isHeld() || (wasCalled && !isServing)) return shortIdleMs
        return isServing && loadMs > residentLoadMs ? Number.POSITIVE_INFINITY : idleMs
      },
      run(call) {
        wasCalled = true
        isServing ||= !call.isTest
        worker.run(call)
      },
      end: () => worker.end(this.#isClosed ? 'was ended with the gateway' : ''),
    }
  }

  /** A module that loaded once and now fails to is tried again with the next call. */
  #failWaiting({ error }: Loaded & { ok: false }): void {
    if (!this.#isClosed) for (const each of this.#pool.clear()) each.reject(loadFailureOf(each, error))
  }

  #disposeIfUnused(): void {
    if (this.#holders === 0 && this.#pool.size === 0) this.#options.onEmpty()
  }
}
