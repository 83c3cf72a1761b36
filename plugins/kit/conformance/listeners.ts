/** Counts the listeners of a signal. */

import { getEventListeners } from 'node:events'

/**
 * The listeners of Node's own fetch are not counted, since it removes them when they are collected and not when a request
 * is over, and only it can remove them.
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
