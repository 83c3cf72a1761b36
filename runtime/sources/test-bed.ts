/** The test bed of sources: a manual clock, scripted sources, and a list of log lines. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Posted, PostLimits, SourceCall, SourceClock } from '@reveille/kit'
import { pino } from 'pino'
import type { RunnableSource } from './call.ts'
import { createSources, type SourcesOptions } from './index.ts'

export interface ManualSourceClock extends SourceClock {
  /** Returns the remaining milliseconds of each sleep, the shortest first. */
  sleepers(): readonly number[]
  advance(ms: number): void
}

export function createManualSourceClock(start = Date.UTC(2026, 0, 1)): ManualSourceClock {
  const sleepers = new Set<{ readonly at: number; wake(): void }>()
  let time = start
  return {
    now: () => time,
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const sleeper = {
        at: time + ms,
        wake() {
          signal.removeEventListener('abort', onAbort)
          sleepers.delete(sleeper)
          resolve()
        },
      }
      const onAbort = () => {
        sleepers.delete(sleeper)
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      else sleepers.add(sleeper)
      return promise
    },
    sleepers: () => [...sleepers].map(({ at }) => at - time).sort((left, right) => left - right),
    advance(ms) {
      time += ms
      for (const sleeper of sleepers) if (sleeper.at <= time) sleeper.wake()
    },
  }
}

export const limits: PostLimits = { maxBodyBytes: 1000, maxActions: 10, maxRenderedBytes: 1000 }

export async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-sources-'))
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

/** Makes a source that runs as `run` says. `calls` has one call for each run. */
export function createScripted(
  name: string,
  run: (call: SourceCall, number: number) => Promise<void> | void,
) {
  const calls: SourceCall[] = []
  const source: RunnableSource = {
    name,
    // A badly written source may throw before there is a promise.
    run(call) {
      calls.push(call)
      return run(call, calls.length) as Promise<void>
    },
  }
  return { source, calls }
}

/** A run that ends when it is ordered to. */
export async function untilAborted({ signal }: SourceCall): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

export type Bed = Awaited<ReturnType<typeof createBed>>

/** After this long a test waits in vain. Milliseconds. */
const maxWaitMs = 10_000

/** Makes a test bed. A test may change `live` at any time; `apply` follows it. */
export async function createBed(live: RunnableSource[], options: Partial<SourcesOptions> = {}) {
  const own = await makeFolder()
  const clock = createManualSourceClock()
  const lines: Record<string, unknown>[] = []
  const posts: Parameters<SourcesOptions['post']>[0][] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const sources = createSources({
    live: () => live,
    async post(request): Promise<Posted> {
      posts.push(request)
      return { status: 202 }
    },
    limitsOf: () => limits,
    folder: own.folder,
    log,
    clock,
    random: () => 1,
    ...options,
  })

  /** Waits until `passes` returns true. The clock bounds the wait, since files and processes are slow on a busy machine. */
  async function until(passes: () => unknown, what: string): Promise<void> {
    for (const start = performance.now(); performance.now() - start < maxWaitMs; ) {
      if (passes()) return
      await yieldToEventLoop()
    }
    throw new Error(`Waited in vain until ${what}; logged: ${JSON.stringify(lines)}`)
  }

  return {
    ...sources,
    live,
    clock,
    lines,
    posts,
    folder: own.folder,
    until,
    events: () => lines.map((line) => line['event']),
    /** Waits until the states of all sources are these. */
    untilStates: (...wanted: readonly string[]) =>
      until(
        () => JSON.stringify(sources.states().map(({ state }) => state)) === JSON.stringify(wanted),
        `the states are ${wanted}, not ${sources.states().map(({ state }) => state)}`,
      ),
    /** Waits for a sleep of this length, and ends it. */
    async sleepThrough(ms: number) {
      await until(() => clock.sleepers().includes(ms), `a source sleeps ${ms} ms, not ${clock.sleepers()}`)
      clock.advance(ms)
    },
    async [Symbol.asyncDispose]() {
      const closing = sources.close()
      await yieldToEventLoop()
      clock.advance(10_000)
      await closing
      await own[Symbol.asyncDispose]()
    },
  }
}
