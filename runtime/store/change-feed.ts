/** Streams committed changes from a ring in memory, which is filled only while there is a listener. */

import type { Change } from './port.ts'

/** Maximum number of remembered changes. A listener that falls further behind skips to the oldest of them. */
const max = 8_192

export function createChangeFeed() {
  const wakers = new Set<() => void>()
  let ring: Change[] = []
  /** The number of the first change in the ring. */
  let first = 0
  let listeners = 0
  let closed = false

  /** Wakes every listener, to see whether there is a change for it or the stream has ended. */
  function wakeAll(): void {
    const waiting = [...wakers]
    wakers.clear()
    for (const wake of waiting) wake()
  }

  function release(): void {
    listeners -= 1
    wakeAll()
  }

  async function* follow(start: number, signal: AbortSignal): AsyncGenerator<Change, void> {
    let next = start
    while (!signal.aborted && !closed) {
      next = Math.max(next, first)
      const change = ring[next - first]
      if (change === undefined) {
        await new Promise<void>((wake) => wakers.add(wake))
      } else {
        next += 1
        yield change
      }
    }
  }

  return {
    push(changes: readonly Change[]) {
      if (listeners === 0) return
      ring.push(...changes)
      const surplus = ring.length - max
      if (surplus > max / 4) {
        ring = ring.slice(surplus)
        first += surplus
      }
      wakeAll()
    },

    listen({ signal }: { signal: AbortSignal }): AsyncIterable<Change> {
      const changes = follow(first + ring.length, signal)
      if (signal.aborted || closed) return changes
      listeners += 1
      // The signal ends the stream even if the listener reads nothing.
      signal.addEventListener('abort', release, { once: true })
      return changes
    },

    /** Ends every listener. */
    close() {
      closed = true
      wakeAll()
    },
  }
}
