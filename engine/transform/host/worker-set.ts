/**
 * Manages the workers of one bundle: which call runs next, how many workers there are, and when they end.
 *
 * The first worker starts with the first call. While a snapshot holds the set, one worker more than are busy with requests is
 * started, so that a call that never ends does not delay the next one. Surplus workers end after half a minute, and the last
 * one after three minutes without a request; one that only tests have called ends with the tests. Without a snapshot all end
 * with their last call, and a late call starts one for itself.
 */

import type { TransformLimits } from '../../config/settings.ts'
import { createJobQueue } from '../../threads/queue.ts'
import type { TransformError, TransformEvent } from '../port.ts'
import { busy, type Call, failure, loadFailureOf, secondsOf } from './call.ts'
import type { CheckedModule } from './module-check.ts'
import {
  createModuleWorker,
  type Loaded,
  type ModuleWorker,
  type ModuleWorkerOptions,
  type WorkerOwner,
} from './module-worker.ts'
import type { WarmSpare } from './warm-spare.ts'

/** A worker is added when all are busy for this long, which most calls are not. */
const growMs = 5
/** The pause after a worker that could not load its module, or ended while idle; a call that needs a worker cuts it short. */
const pauseMs = 1_000
const shrinkMs = 30_000
const lateMs = 1_000
/** After so many half minutes without a call no worker is kept. */
const maxQuietChecks = 6
/** A module that takes longer to load keeps a second worker while it is called. */
const slowLoadMs = 50
/** A module that takes longer still stays loaded, since a call that waited for it might not be answered in time. */
const residentLoadMs = 1_000
/** Added to the waiting time of a call for which the first worker must start. */
const startMs = 5_000
const maxAbandoned = 2
const maxWaiting = 1_000
/** A call that finds its worker busy with leftovers more often fails with TRANSFORM_BUSY. */
const maxTakenBack = 3

/** `module` is the first that had this bundle. */
export interface WorkerSetOptions extends Omit<ModuleWorkerOptions, 'thread' | 'owner'> {
  readonly spare: WarmSpare
  onEvent(event: TransformEvent): void
  /** Is called when no worker, call or holder is left. */
  onEmpty(): void
}

export interface WorkerSet {
  /** The result of the last load; absent before that. */
  readonly loaded: Loaded | undefined
  /** What `checkModules` needs to load the module without keeping a worker. */
  readonly check: CheckedModule
  /** Keeps workers for a snapshot, until this calls `release`. */
  hold(limits: TransformLimits): void
  /** Resolves when a worker has loaded the module, or failed to. */
  load(): Promise<Loaded>
  release(): void
  call(call: Call): void
  /** Ends the workers that only tests have called. */
  endTested(): void
  /** Ends everything; calls that wait or run are rejected. */
  close(): void
}

export function createWorkerSet(options: WorkerSetOptions): WorkerSet {
  const { module, spare, timers, onEvent, onEmpty } = options
  const queue = createJobQueue<Call>(timers, (call) => {
    call.reject(busy(call, `was not reached within ${secondsOf(call.limits.timeoutMs)}`))
    endSurplus()
  })
  const workers = new Set<ModuleWorker>()
  /** The worker that was used last is the last. */
  const idle: ModuleWorker[] = []
  const takenBack = new WeakMap<Call, number>()
  let starting: { readonly worker: ModuleWorker; readonly outcome: Promise<Loaded> } | undefined
  let loaded: Loaded | undefined
  /** The limits of the last call or holder. */
  let limits: TransformLimits | undefined
  let holders = 0
  let abandoned = 0
  let wasCalledLate = false
  /** Whether a request has called it since it had no worker. Such a set keeps a worker, and the spare. */
  let isServing = false
  let isClosed = false
  /** Whether there was a call since `shrinkTimer` was set. */
  let wasCalled = false
  /** Checks in a row that found no call. */
  let quietChecks = 0
  let growTimer: unknown
  let pauseTimer: unknown
  let shrinkTimer: unknown
  /** The fewest idle workers since `shrinkTimer` was set. */
  let fewestIdle = 0

  const owner: WorkerOwner = {
    idle(worker) {
      idle.push(worker)
      dispatch()
      endSurplus()
    },
    ended(worker) {
      // Replaced at once, a module that ends its worker by a timer would start one thread after another.
      if (remove(idle, worker)) pauseGrowth()
      workers.delete(worker)
      if (starting?.worker === worker) return
      dispatch()
      grow()
      endSurplus()
    },
    takenBack(call) {
      const count = (takenBack.get(call) ?? 0) + 1
      takenBack.set(call, count)
      if (isClosed || count > maxTakenBack) call.reject(busy(call, 'found no worker that was free'))
      else queue.addFirst(call, call.limits.timeoutMs)
      dispatch()
      grow()
    },
    lost: (reason) => onEvent({ type: 'worker-lost', module, reason }),
    abandoned() {
      abandoned++
      onEvent({ type: 'worker-abandoned', module, abandoned })
      if (abandoned >= maxAbandoned) rejectAll(refusal)
    },
    returned() {
      abandoned--
      grow()
      endSurplus()
    },
  }

  function call(call: Call): void {
    limits = call.limits
    if (!call.isTest) serve()
    wasCalledLate ||= holders === 0
    if (abandoned >= maxAbandoned) {
      call.reject(refusal(call))
      return
    }
    if (queue.size >= maxWaiting) {
      call.reject(busy(call, `has ${maxWaiting} calls waiting already`))
      return
    }
    queue.add(call, call.limits.timeoutMs + (workers.size === (starting ? 1 : 0) ? startMs : 0))
    dispatch()
    if (workers.size === 0) grow()
    else if (idle.length === 0) growSoon()
  }

  function serve(): void {
    wasCalled = true
    quietChecks = 0
    if (!isServing) spare.hold()
    isServing = true
  }

  function rest(): void {
    if (isServing) spare.release()
    isServing = false
  }

  function refusal({ module }: Call) {
    return failure(
      module,
      `has ${abandoned} workers that cannot be stopped, and waits for one of them to end`,
    )
  }

  function dispatch(): void {
    while (idle.length > 0) {
      const next = queue.take(({ limits }) => running() < limits.concurrency)
      if (next === undefined) return
      const worker = idle.pop()
      fewestIdle = Math.min(fewestIdle, idle.length)
      worker?.run(next)
    }
  }

  function rejectAll(why: (call: Call) => TransformError): void {
    for (const call of queue.clear()) call.reject(why(call))
  }

  function running(): number {
    return workers.size - idle.length - (starting ? 1 : 0)
  }

  function growSoon(): void {
    if (growTimer !== undefined || starting) return
    growTimer = timers.setTimeout(() => {
      growTimer = undefined
      grow()
    }, growMs)
  }

  /** One at a time, so that a moment's rush does not start more threads than there are processors. */
  function grow(): void {
    if (isClosed || starting || idle.length > 0 || abandoned >= maxAbandoned) return
    // A module that is not called needs no worker, and tests call one after the other.
    const standsBy = holders > 0 && isServing && running() > 0
    if (queue.size === 0 && !standsBy && !isResident()) return
    const canWait = queue.size === 0 || (workers.size > 0 && !loaded?.ok)
    if (pauseTimer !== undefined && canWait) return
    // One more than may run stands by.
    if (workers.size <= (limits?.concurrency ?? 1)) void startWorker()
  }

  function startWorker(): Promise<Loaded> {
    const worker = createModuleWorker({ ...options, thread: spare.take(), owner })
    workers.add(worker)
    const outcome = worker.load(limits?.memoryMb ?? 0).then((result) => {
      starting = undefined
      loaded = result
      if (result.ok) {
        owner.idle(worker)
        if (idle.length === 0) growSoon()
      } else startFailed(result.error)
      return result
    })
    starting = { worker, outcome }
    return outcome
  }

  function startFailed(error: (Loaded & { ok: false })['error']): void {
    pauseGrowth()
    if (isClosed) return
    // No other worker would take the calls that wait.
    if (workers.size === 0) rejectAll((each) => loadFailureOf(each, error))
    else owner.lost(`was not loaded once more: ${error.text}`)
    endSurplus()
  }

  function pauseGrowth(): void {
    if (pauseTimer !== undefined || isClosed) return
    pauseTimer = timers.setTimeout(() => {
      pauseTimer = undefined
      // A module that failed to load is tried again for a call.
      if (loaded?.ok || queue.size > 0) grow()
    }, pauseMs)
  }

  /** Ends the workers that are not needed, now or after a while. */
  function endSurplus(): void {
    if (isClosed) return
    if (holders === 0 && !wasCalledLate) while (idle.length > 0) endOldest()
    if (idle.length > (isResident() ? idleToKeep() : 0) && shrinkTimer === undefined) {
      fewestIdle = idle.length
      shrinkTimer = timers.setTimeout(shrink, holders === 0 ? lateMs : shrinkMs)
    }
    if (workers.size > 0 || queue.size > 0) return
    rest()
    if (holders === 0 && abandoned === 0) dispose()
  }

  function shrink(): void {
    shrinkTimer = undefined
    quietChecks = wasCalled ? 0 : quietChecks + 1
    wasCalled = false
    for (let surplus = fewestIdle - idleToKeep(); surplus > 0; surplus--) endOldest()
    endSurplus()
  }

  function endOldest(): void {
    idle.shift()?.end('')
  }

  function idleToKeep(): number {
    if (holders === 0) return 0
    if (!isServing || quietChecks >= maxQuietChecks) return isResident() ? 1 : 0
    return loaded?.ok && loaded.loadMs > slowLoadMs ? 2 : 1
  }

  function isResident(): boolean {
    return holders > 0 && loaded?.ok === true && loaded.loadMs > residentLoadMs
  }

  function dispose(): void {
    for (const timer of [growTimer, pauseTimer, shrinkTimer]) timers.clearTimeout(timer)
    growTimer = pauseTimer = shrinkTimer = undefined
    rest()
    onEmpty()
  }

  return {
    call,
    endTested() {
      if (!isServing) for (let surplus = idle.length - idleToKeep(); surplus > 0; surplus--) endOldest()
    },
    get loaded() {
      return loaded
    },
    get check() {
      return {
        options,
        limits: limits ?? { timeoutMs: 0, memoryMb: 0, concurrency: 1 },
        checked(result: Loaded) {
          loaded = result
          grow()
        },
      }
    },
    hold(wanted) {
      holders++
      limits = wanted
      wasCalledLate = false
    },
    async load() {
      return starting ? starting.outcome : startWorker()
    },
    release() {
      holders--
      if (holders > 0 || isClosed) return
      timers.clearTimeout(shrinkTimer)
      shrinkTimer = undefined
      if (starting && queue.size === 0) starting.worker.end('')
      endSurplus()
    },
    close() {
      isClosed = true
      dispose()
      rejectAll((each) => busy(each, 'was not begun before the gateway stopped'))
      for (const worker of workers) worker.end('was ended with the gateway')
    },
  }
}

function remove<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}
