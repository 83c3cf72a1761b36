/** Owns the time of one call: whether it began, and when it has had enough. */

import type { Timers } from '../../timers.ts'
import { phases, slots } from '../worker/protocol.ts'
import type { Thread } from './thread.ts'

/** For so long the thread may be busy with what an earlier call left behind. */
const beginMs = 250

export interface CallWatchOptions {
  readonly thread: Thread
  readonly timers: Timers
  readonly timeoutMs: number
  /** Whether somebody debugs this process: a call that stands at a breakpoint has all the time it needs. */
  isDebugged(): boolean
  /** It was taken back, and will not begin. */
  notBegun(): void
  expired(): void
}

/** While a debugger may be attached, it is asked so often whether it still is. */
const debuggedMs = 1_000

/** To be called before the call is posted. Answers what ends the watch. */
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
    // An answer that waits here is in time: it is this thread that was late.
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

/** Whether the newest call has not begun; it cannot from then on. */
export function takeBack({ shared }: Thread): boolean {
  return Atomics.compareExchange(shared, slots.phase, phases.posted, phases.takenBack) === phases.posted
}
