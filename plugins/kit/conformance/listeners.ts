/** Owns the look at who still listens to a signal. */

import { getEventListeners } from 'node:events'

/**
 * Not counted is what Node's own fetch adds: it takes its listeners off when they are collected, not when a request
 * is over, and nobody but it can.
 */
export function watchListeners(signal: AbortSignal): { signal: AbortSignal; left(): number } {
  const excused = new Set<unknown>()
  const add = signal.addEventListener
  signal.addEventListener = function addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
    if (new Error('who adds it').stack?.includes('node:internal/deps/undici')) excused.add(args[1])
    Reflect.apply(add, signal, args)
  }
  return {
    signal,
    left: () => getEventListeners(signal, 'abort').filter((listener) => !excused.has(listener)).length,
  }
}
