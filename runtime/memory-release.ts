/** Gives memory back to the system that a start or a flood of requests took. Each thread does so for its own heap. */

import { createHook } from 'node:async_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Schemas, parsers and requests leave garbage behind that V8 would keep until the heap is full, and a young generation
 * that grew for them. Only this thorough collection returns the pages of the young generation to the system. Where it
 * cannot be had, nothing else changes.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  if (typeof collect !== 'function') return
  keepTick()
  collect({ type: 'major', flavor: 'last-resort' })
}

/** Spares what was compiled of functions, which only a start uses once. It takes less time, and the next request none more. */
function releaseWithoutCode(): void {
  setFlagsFromString('--no-flush-bytecode')
  releaseMemory()
  setFlagsFromString('--flush-bytecode')
}

/** Objects that are never released; see `keepTick`. */
const kept: object[] = []

/**
 * Keeps one of the objects behind `process.nextTick`. V8 forgets their shape with the last of them, which a collection
 * of an idle process is sure to find, and `nextTick` is three times as slow from then on: a request cost the main thread 40 us
 * instead of 37 (3 runs each, 32 connections).
 */
function keepTick(): void {
  if (kept.length > 0) return
  const hook = createHook({ init: (_id, _type, _trigger, tick) => kept.push(tick) }).enable()
  process.nextTick(() => {})
  hook.disable()
}

export interface MemoryReleaseOptions {
  /** Returns how many requests there have been. */
  readonly requests: () => number
  /** Returns the processor time of this thread so far. Milliseconds. */
  readonly busyMs?: () => number
  /** Calls `act` again and again, until the function that it returns is called. */
  readonly repeat?: (act: () => void, ms: number) => () => void
  /** How much memory the heap of this thread holds. Bytes. */
  readonly heldBytes?: () => number
  readonly release?: () => void
}

const lookMs = 1_000
/** A thread that computes for longer between two looks is not at rest, although no request came: it performs what came before. */
const maxBusyMs = 50
/** Seconds of rest before memory is given back. */
const quietLooks = 10
/** A heap that grew by less since the last time keeps what it has, so that one request a minute does not cost a collection each. */
const minGrowth = 8 * 1_048_576

/**
 * Releases memory once the thread has been at rest for ten seconds, once for each rest: after its start, and then where the
 * heap has grown. Returns a function that ends this.
 */
export function releaseMemoryAtRest({
  requests,
  busyMs = threadMs,
  repeat = repeatInBackground,
  heldBytes = heapBytes,
  release = releaseWithoutCode,
}: MemoryReleaseOptions): () => void {
  let seen = { requests: requests(), busyMs: busyMs() }
  let held = 0
  let quiet = 0

  return repeat(() => {
    const now = { requests: requests(), busyMs: busyMs() }
    const isAtRest = now.requests === seen.requests && now.busyMs - seen.busyMs <= maxBusyMs
    seen = now
    quiet = isAtRest ? quiet + 1 : 0
    if (quiet !== quietLooks || heldBytes() - held < minGrowth) return
    release()
    held = heldBytes()
    seen.busyMs = busyMs()
  }, lookMs)
}

function repeatInBackground(act: () => void, ms: number): () => void {
  const timer = setInterval(act, ms).unref()
  return () => clearInterval(timer)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

function heapBytes(): number {
  return getHeapStatistics().total_physical_size
}
