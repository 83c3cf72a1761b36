/**
 * A gateway in a process of its own whose event loop has a pulse: two beats that lie far apart were held apart.
 *
 * Reports to its parent: `{ address }`, and a {@link Vitals} for each `report`.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { createGateway } from '../../../runtime/index.ts'

export interface Vitals {
  /** The longest between two beats since the last report, as the processor counts it, garbage left out. Milliseconds. */
  readonly held: number
  /** What lives, garbage collected: heap, buffers and all. Bytes. */
  readonly live: number
  /** What the process holds of the machine's memory. Bytes. */
  readonly resident: number
  /** What the process took of the processor since it was started. Milliseconds. */
  readonly spent: number
}

const beatMs = 1

let garbage = 0
const observer = new PerformanceObserver((found) => {
  for (const { duration } of found.getEntries()) garbage += duration
})
observer.observe({ entryTypes: ['gc'] })

const gateway = await createGateway({ configFile: process.argv[2] ?? '', env: {}, watch: false })
process.on('message', (message) => void hear(message))
process.on('disconnect', () => process.exit())
process.send?.({ address: await gateway.listen() })

let held = 0
let last = { busy: busyMs(), at: performance.now() }
setInterval(beat, beatMs)

function beat(): void {
  const next = { busy: busyMs(), at: performance.now() }
  // The kernel counts in ticks of some milliseconds, so that the clock may know better.
  const busy = Math.min(next.busy - last.busy, next.at - last.at)
  last = next
  // What was collected is told a little later: a long beat is looked at once more when that is known.
  if (busy > held) setTimeout(settle, 5, busy, garbage)
}

function settle(busy: number, garbageBefore: number): void {
  held = Math.max(held, busy - (garbage - garbageBefore))
}

async function hear(message: unknown): Promise<void> {
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
