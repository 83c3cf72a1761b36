/** Watches the time of one call: whether it has begun, and its deadline. */

import type { Timers } from '../../timers.ts'
import { phases, slots, type WorkerThread } from '../worker/protocol.ts'

/** Milliseconds that the thread may be busy with the remains of an earlier call. */
const beginMs = 250

export interface CallWatchOptions {
  readonly thread: WorkerThread
  readonly timers: Timers
  readonly timeoutMs: number
  /** True if this process is being debugged; a call that is paused at a breakpoint has no deadline. */
  isDebugged(): boolean
  /** Is called when the call was taken back; it will not begin. */
  notBegun(): void
  expired(): void
}

/** Milliseconds between checks, during a call without a deadline, that the debugger is still there. */
const debuggedMs = 1_000

/** Must be called before the call is posted. @returns a function that ends the watch */
export function watchCall(options: CallWatchOptions): () => void {
  const { thread, timers, timeoutMs, isDebugged, notBegun, expired } = options
  let timer = timers.setTimeout(lookWhetherBegun, Math.min(beginMs, timeoutMs))
  let isOver = false
  Atomics.store(thread.shared, slots.phase, phases.posted)

  function lookWhetherBegun(): void {
    thread.drain()
    if (isOver) return
    if (isDebugged()) timer = timers.setTimeout(lookWhetherBegun, debuggedMs)
    else if (takeBack(thread)) notBegun()
    else if (timeoutMs <= beginMs) expired()
    else timer = timers.setTimeout(expire, timeoutMs - beginMs)
  }

  function expire(): void {
    // An answer that has arrived is in time, since it is this thread that was late.
    thread.drain()
    if (isOver) return
    if (isDebugged()) timer = timers.setTimeout(expire, debuggedMs)
    else expired()
  }

  return () => {
    isOver = true
    timers.clearTimeout(timer)
  }
}

/** Takes the newest call back unless it has begun. @returns whether it was taken back */
export function takeBack({ shared }: WorkerThread): boolean {
  return Atomics.compareExchange(shared, slots.phase, phases.posted, phases.takenBack) === phases.posted
}
