/** Schedules the readings of a mailbox: one at a time, and one more for all requests that came while it ran. */

import { type SourceClock, transientError, unlessAborted } from '@reveille/kit'
import { minuteMs } from '../durations.ts'

export type Reads = ReturnType<typeof createReads>

/**
 * Notifications may be lost. https://developers.google.com/workspace/gmail/api/guides/push#notification_reliability
 */
const maxIdleMs = 15 * minuteMs

export function createReads() {
  let next = Promise.withResolvers<void>()
  let requested = Promise.withResolvers<void>()
  let begun = 0
  let isOver = false

  function quiet<Value>(promise: Promise<Value>): Promise<Value> {
    promise.catch(() => undefined)
    return promise
  }

  const ended = () => transientError('not-watching', 'The mailbox is not being read any more.')

  return {
    /** Number of reads begun. */
    get begun() {
      return begun
    },
    /**
     * Resolves after a reading that began after this call. @throws PluginError, retryable, if no more readings will
     * begin
     */
    request(): Promise<void> {
      if (isOver) return quiet(Promise.reject(ended()))
      requested.resolve()
      return quiet(next.promise)
    },
    /** Performs the readings that are requested. @throws what a reading throws; the reason of the signal */
    async run(read: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<never> {
      let current = next
      try {
        for (;;) {
          await unlessAborted(requested.promise, signal)
          current = next
          next = Promise.withResolvers()
          requested = Promise.withResolvers()
          begun += 1
          await read(signal)
          current.resolve()
        }
      } finally {
        isOver = true
        for (const { promise, reject } of [current, next]) {
          quiet(promise)
          reject(ended())
        }
      }
    },
  }
}

/** Requests a reading whenever none has begun for a while. */
export async function readWhenIdle(reads: Reads, clock: SourceClock, signal: AbortSignal): Promise<void> {
  let seen = reads.begun
  for (let idleMs = 0; ; idleMs += minuteMs) {
    if (reads.begun !== seen) idleMs = 0
    else if (idleMs >= maxIdleMs) reads.request()
    seen = reads.begun
    await clock.sleep(minuteMs, signal)
  }
}
