/** Queues the calls that wait for a worker: so many in all, and each no longer than it may take itself. */

import type { Timers } from '../../timers.ts'
import type { TransformError } from '../port.ts'
import { type Call, failure, secondsOf } from './call.ts'

const mostWaiting = 1_000

export interface CallQueue {
  readonly size: number
  readonly first: Call | undefined
  /** Rejects the call where too many wait. `startMs`: time for the worker to start, besides the call's own. */
  add(call: Call, startMs: number): void
  /** Adds a call before all others that a worker had to return. */
  addFirst(call: Call): void
  takeFirst(): Call | undefined
  rejectAll(why: (call: Call) => TransformError): void
}

interface Waiting {
  readonly call: Call
  readonly timer: unknown
}

/** `gaveUp` is called when a call was rejected because no worker took it in time. */
export function createCallQueue(timers: Timers, gaveUp: () => void): CallQueue {
  const waiting: Waiting[] = []

  function wait(call: Call, startMs = 0): Waiting {
    const { timeoutMs } = call.limits
    const timer = timers.setTimeout(() => {
      waiting.splice(waiting.indexOf(entry), 1)
      call.reject(busy(call, `was not reached within ${secondsOf(timeoutMs)}`))
      gaveUp()
    }, timeoutMs + startMs)
    const entry = { call, timer }
    return entry
  }

  return {
    get size() {
      return waiting.length
    },
    get first() {
      return waiting[0]?.call
    },
    add(call, startMs) {
      if (waiting.length < mostWaiting) waiting.push(wait(call, startMs))
      else call.reject(busy(call, `has ${mostWaiting} calls waiting already`))
    },
    addFirst: (call) => void waiting.unshift(wait(call)),
    takeFirst() {
      const taken = waiting.shift()
      timers.clearTimeout(taken?.timer)
      return taken?.call
    },
    rejectAll(why) {
      for (const { call, timer } of waiting.splice(0)) {
        timers.clearTimeout(timer)
        call.reject(why(call))
      }
    },
  }
}

export function busy({ module }: Call, text: string): TransformError {
  return failure(module, text, 'TRANSFORM_BUSY')
}
