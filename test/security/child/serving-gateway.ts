/**
 * Runs a gateway in its own process with a timer that ticks all the time. Two ticks that are far apart show that the
 * event loop was held. It reports to its parent: `{ address }`, and a {@link Vitals} for each `report`.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { createGateway } from '../../../runtime/index.ts'

export interface Vitals {
  /** The longest time between two ticks since the last report: milliseconds of processor time, without garbage. */
  readonly held: number
  /** Live memory after a collection: heap, buffers and all. Bytes. */
  readonly live: number
  /** The memory that the process holds. Bytes. */
  readonly resident: number
  /** The processor time since the start of the process. Milliseconds. */
  readonly spent: number
}

const tickMs = 1

let garbage = 0
const observer = new PerformanceObserver((found) => {
  for (const { duration } of found.getEntries()) garbage += duration
})
observer.observe({ entryTypes: ['gc'] })

const gateway = await createGateway({ configFile: process.argv[2] ?? '', env: {}, watch: false })
process.on('message', (message) => void receive(message))
process.on('disconnect', () => process.exit())
process.send?.({ address: await gateway.listen() })

let held = 0
let last = { busy: busyMs(), at: performance.now() }
setInterval(tick, tickMs)

function tick(): void {
  const next = { busy: busyMs(), at: performance.now() }
  // The kernel counts in ticks of some milliseconds, so the clock may be more exact.
  const passed = next.at - last.at
  const busy = Math.min(next.busy - last.busy, passed)
  last = next
  // Collections are reported a little later, so a long hold is corrected when they are known.
  if (busy > held) setTimeout(settle, 5, busy, passed, garbage)
}

/** Collections are timed by the clock, which a busy machine stretches like the whole hold: so their share of it counts. */
function settle(busy: number, passed: number, garbageBefore: number): void {
  const share = Math.min(1, (garbage - garbageBefore) / passed)
  held = Math.max(held, busy * (1 - share))
}

async function receive(message: unknown): Promise<void> {
  if (message === 'close') {
    await gateway.close({ graceMs: 0 })
    process.exit()
  }
  await new Promise((resolve) => setTimeout(resolve, 10))
  const worst = held
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  last = { busy: busyMs(), at: performance.now() }
  held = 0
  const vitals: Vitals = {
    held: worst,
    live: heapUsed + external,
    resident: rss,
    spent: (user + system) / 1000,
  }
  process.send?.(vitals)
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
