/**
 * Runs a gateway in its own process and measures how long its main thread is held, which keeps everything else waiting.
 *
 * It reports to its parent: `{ address }`, and after each `watch` and the rest that follows, a {@link Report}.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createGateway } from '../../../runtime/index.ts'

export interface Report {
  /** The longest hold of the event loop, without garbage: processor time of this thread, in milliseconds. */
  readonly hold: number
  /** The processor time of collecting garbage during that hold. Milliseconds. */
  readonly garbage: number
  readonly heap: number
  readonly resident: number
}

interface Hold {
  readonly busy: number
  readonly start: number
  readonly end: number
}

/** Shorter holds are not recorded. Milliseconds. */
const shortestRecorded = 1
/** Shorter holds do not count as work of the gateway. Milliseconds. */
const shortHold = 5
/** The gateway is at rest when it has done nothing for this long. Milliseconds. */
const quietMs = 25

const collections: { start: number; end: number }[] = []
const observer = new PerformanceObserver((found) => {
  for (const { startTime, duration } of found.getEntries())
    collections.push({ start: startTime, end: startTime + duration })
})
observer.observe({ entryTypes: ['gc'] })

const gateway = await createGateway({ configFile: process.argv[2] ?? '', env: {}, watch: false })
process.on('message', (message) => void receive(message))
process.on('disconnect', () => process.exit())
report({ address: await gateway.listen() })

let answered = false

async function receive(message: unknown): Promise<void> {
  if (message === 'answered') answered = true
  else if (message === 'close') {
    await gateway.close({ graceMs: 0 })
    process.disconnect()
  } else if (message === 'collect') {
    globalThis.gc?.()
    await yieldToEventLoop()
    globalThis.gc?.()
    report(reportOf([]))
  } else await watch()
}

async function watch(): Promise<void> {
  answered = false
  collections.length = 0
  report('watching')
  const holds: Hold[] = []
  let quietSince = performance.now()
  let last = { busy: busyMs(), at: quietSince }
  while (!answered || last.at - quietSince < quietMs) {
    await yieldToEventLoop()
    const next = { busy: busyMs(), at: performance.now() }
    // The kernel counts in ticks of some milliseconds, so the clock may be more exact.
    const busy = Math.min(next.busy - last.busy, next.at - last.at)
    if (busy > shortHold) quietSince = next.at
    if (busy > shortestRecorded) holds.push({ busy, start: last.at, end: next.at })
    last = next
  }
  // Collections are reported a little later.
  await new Promise((resolve) => setTimeout(resolve, 10))
  report(reportOf(holds))
}

function reportOf(holds: readonly Hold[]): Report {
  const all = holds.map((each) => {
    const garbage = each.busy * garbageShareOf(each)
    return { hold: each.busy - garbage, garbage }
  })
  const [worst = { hold: 0, garbage: 0 }] = all.toSorted((left, right) => right.hold - left.hold)
  const { heapUsed, rss } = process.memoryUsage()
  return { ...worst, heap: heapUsed, resident: rss }
}

/** Collections are timed by the clock, which a busy machine stretches like the whole hold: so their share of it counts. */
function garbageShareOf({ start, end }: Hold): number {
  let sum = 0
  for (const each of collections) {
    if (each.start >= start && each.end <= end) sum += each.end - each.start
  }
  return Math.min(1, sum / (end - start))
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function report(message: unknown): void {
  process.send?.(message)
}
