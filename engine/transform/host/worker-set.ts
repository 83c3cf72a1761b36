/**
 * Runs the calls of one bundle in a pool of workers. While a snapshot holds the set, a worker waits a minute for its next call; one that only
 * tests and dry runs have called waits a second, and so does any without a snapshot.
 */

import type { TransformLimits } from '../../config/settings.ts'
import { createPool, type Pool, type PoolWorker, type WorkerEvents } from '../../threads/pool.ts'
import type { TransformEvent } from '../port.ts'
import { busy, type Call, failure, loadFailureOf, secondsOf } from './call.ts'
import { createModuleWorker, type Loaded, type ModuleWorkerOptions } from './module-worker.ts'
import type { WorkerThreads } from './worker-threads.ts'

/** A worker is added when a call has waited this long, which most calls do not. */
const growMs = 5
const idleMs = 60_000
const shortIdleMs = 1_000
/** A module that takes longer to load stays loaded once it was called, since a call that waits for it might not be answered in time. */
const residentLoadMs = 1_000
/** Added to the waiting time of a call for which the first worker must start. */
const startMs = 5_000
const maxAbandoned = 2
const maxWaiting = 1_000
/** A call that finds its worker busy with leftovers more often fails with TRANSFORM_BUSY. */
const maxTakenBack = 3

/** `module` is the first that had this bundle. */
export interface WorkerSetOptions extends Omit<ModuleWorkerOptions, 'thread' | 'owner'> {
  readonly threads: WorkerThreads
  onEvent(event: TransformEvent): void
  /** Is called when no worker, call or holder is left. */
  onEmpty(): void
}

export interface WorkerSet {
  /** The result of the last load; absent before that. */
  loaded: Loaded | undefined
  /** Keeps workers for a snapshot, until this calls `release`. */
  hold(limits: TransformLimits): void
  release(): void
  /** Resolves when a worker has loaded the module, or failed to. */
  load(): Promise<Loaded>
  call(call: Call): void
  /** Ends everything; calls that wait or run are rejected. */
  close(): Promise<unknown>
}

export function createWorkerSet(options: WorkerSetOptions): WorkerSet {
  const { module, timers, threads, onEvent, onEmpty } = options
  const takenBack = new WeakMap<Call, number>()
  let loading: Promise<Loaded> | undefined
  /** The limits of the last call or holder. */
  let limits: TransformLimits = { timeoutMs: 0, memoryMb: 0, concurrency: 1 }
  let holders = 0
  let abandoned = 0
  let isClosed = false

  const pool: Pool<Call> = createPool<Call>({
    timers,
    idleMs,
    growMs,
    get maxWorkers() {
      return limits.concurrency
    },
    waitMs: ({ limits }) => limits.timeoutMs + (pool.size === 0 ? startMs : 0),
    start,
    mayRun: () => true,
    gaveUp: (call) => call.reject(busy(call, `was not reached within ${secondsOf(call.limits.timeoutMs)}`)),
    onEmpty: disposeIfUnused,
  })

  const set: WorkerSet = {
    loaded: undefined,
    hold(wanted) {
      holders++
      limits = wanted
    },
    release() {
      holders--
      if (holders > 0 || isClosed) return
      pool.endIdle()
      disposeIfUnused()
    },
    async load() {
      pool.prepare()
      return loading ?? { ok: false, error: { text: 'was not loaded', isSentence: true } }
    },
    call(call) {
      limits = call.limits
      if (abandoned >= maxAbandoned) call.reject(refusal(call))
      else if (pool.waiting().length >= maxWaiting)
        call.reject(busy(call, `has ${maxWaiting} calls waiting already`))
      else pool.add(call)
    },
    close() {
      isClosed = true
      const { waiting, ended } = pool.close()
      for (const each of waiting) each.reject(busy(each, 'was not begun before the gateway stopped'))
      return ended
    },
  }

  function start({ idle, ended }: WorkerEvents<Call>): PoolWorker<Call> {
    const lost = (reason: string) => onEvent({ type: 'worker-lost', module, reason })
    const owner = { idle, ended, takenBack: runAgain, lost, abandoned: abandon, returned }
    const worker = createModuleWorker({ ...options, thread: threads.take(), owner })
    loading = worker.load(limits.memoryMb)
    let loadMs = 0
    const ready = loading.then((result) => {
      set.loaded = result
      if (result.ok) loadMs = result.loadMs
      else failWaiting(result)
    })
    let wasCalled = false
    let isServing = false
    return {
      ready,
      get idleMs() {
        if (holders === 0 || (wasCalled && !isServing)) return shortIdleMs
        return isServing && loadMs > residentLoadMs ? Number.POSITIVE_INFINITY : idleMs
      },
      run(call) {
        wasCalled = true
        isServing ||= !call.isTest
        worker.run(call)
      },
      end: () => worker.end(isClosed ? 'was ended with the gateway' : ''),
    }
  }

  /** A module that loaded once and now fails to is tried again with the next call. */
  function failWaiting({ error }: Loaded & { ok: false }): void {
    if (!isClosed) for (const each of pool.clear()) each.reject(loadFailureOf(each, error))
  }

  /** The call has not begun in its worker. */
  function runAgain(call: Call): void {
    const count = (takenBack.get(call) ?? 0) + 1
    takenBack.set(call, count)
    if (isClosed || count > maxTakenBack) call.reject(busy(call, 'found no worker that was free'))
    else pool.addFirst(call)
  }

  function abandon(): void {
    abandoned++
    onEvent({ type: 'worker-abandoned', module, abandoned })
    if (abandoned >= maxAbandoned) for (const each of pool.clear()) each.reject(refusal(each))
  }

  function returned(): void {
    abandoned--
    disposeIfUnused()
  }

  function refusal({ module }: Call) {
    return failure(
      module,
      `has ${abandoned} workers that cannot be stopped, and waits for one of them to end`,
    )
  }

  function disposeIfUnused(): void {
    if (holders === 0 && pool.size === 0 && abandoned === 0) onEmpty()
  }

  return set
}
