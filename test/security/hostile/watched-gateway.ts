/**
 * A gateway in a process of its own that watches its event loop: how long does everything else wait for its turn?
 *
 * Reports to its parent: `{ address }`, and after each `watch` and the quiet that follows it, a {@link Report}.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { createGateway } from '../../../runtime/index.ts'

export interface Report {
  /** The longest for which nothing else had a turn, as the processor counts it: load does not. Milliseconds. */
  readonly busy: number
  /** Of that, collecting garbage, by the clock. */
  readonly garbage: number
  /** All that the case took of this thread. */
  readonly total: number
  readonly heap: number
  readonly resident: number
}

interface Block {
  readonly busy: number
  readonly start: number
  readonly end: number
}

/** Blocks below are not worth a look. Milliseconds. */
const shortBlock = 5
/** The gateway is done when it has done nothing for so long. Milliseconds. */
const quietMs = 25

const collections: { start: number; end: number }[] = []
const observer = new PerformanceObserver((found) => {
  for (const { startTime, duration } of found.getEntries())
    collections.push({ start: startTime, end: startTime + duration })
})
observer.observe({ entryTypes: ['gc'] })

const gateway = await createGateway({ configFile: process.argv[2] ?? '', env: {}, watch: false })
process.on('message', (message) => void hear(message))
process.on('disconnect', () => process.exit())
tell({ address: await gateway.listen() })

let answered = false

async function hear(message: unknown): Promise<void> {
  if (message === 'answered') answered = true
  else if (message === 'close') {
    await gateway.close({ graceMs: 0 })
    process.disconnect()
  } else if (message === 'collect') {
    globalThis.gc?.()
    await turn()
    globalThis.gc?.()
    tell(reportOf([], 0))
  } else await watch()
}

async function watch(): Promise<void> {
  answered = false
  collections.length = 0
  tell('watching')
  const blocks: Block[] = []
  const began = busyMs()
  let quietSince = performance.now()
  let last = { busy: began, at: quietSince }
  while (!answered || last.at - quietSince < quietMs) {
    await turn()
    const next = { busy: busyMs(), at: performance.now() }
    // The kernel counts in ticks of some milliseconds, so that the clock may know better.
    const busy = Math.min(next.busy - last.busy, next.at - last.at)
    if (busy > shortBlock) quietSince = next.at
    if (busy > shortBlock) blocks.push({ busy, start: last.at, end: next.at })
    last = next
  }
  const total = last.busy - began
  // What was collected is told a little later.
  await new Promise((resolve) => setTimeout(resolve, 10))
  tell(reportOf(blocks, total))
}

function reportOf(blocks: readonly Block[], total: number): Report {
  const [worst] = blocks.toSorted((left, right) => right.busy - left.busy)
  const { heapUsed, rss } = process.memoryUsage()
  return {
    busy: worst?.busy ?? 0,
    garbage: worst === undefined ? 0 : garbageIn(worst),
    total,
    heap: heapUsed,
    resident: rss,
  }
}

function garbageIn({ start, end }: Block): number {
  let sum = 0
  for (const each of collections) {
    if (each.start >= start && each.end <= end) sum += each.end - each.start
  }
  return sum
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function tell(message: unknown): void {
  process.send?.(message)
}
