/**
 * Runs a gateway in its own process with a timer that ticks all the time: two ticks that are far apart show that the event loop was held,
 * which keeps everything else waiting. It reports to its parent: `{ address }`, and for each `report` {@link Vitals}, once it is at rest.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createGateway } from '../../../runtime/index.ts'

export interface Vitals {
  /** Maximum time between two ticks since the last report: milliseconds of processor time, without collecting garbage. */
  readonly heldMs: number
  /** The processor time since the start of the process. Milliseconds. */
  readonly spentMs: number
}

const tickMs = 1
/** Shorter holds do not count as work of the gateway. Milliseconds. */
const shortHold = 5
/** The gateway is at rest when it has done nothing for this long. Milliseconds. */
const quietMs = 25

let garbage = 0
const observer = new PerformanceObserver((found) => {
  for (const { duration } of found.getEntries()) garbage += duration
})
observer.observe({ entryTypes: ['gc'] })

const gateway = await createGateway({ configFile: process.argv[2] ?? '', env: {}, watch: false })
process.on('message', (message) => void receive(message))
process.on('disconnect', () => process.exit())
process.send?.({ address: await gateway.listen() })

let heldMs = 0
let last = { busy: busyMs(), at: performance.now() }
let quietSince = last.at
setInterval(tick, tickMs)

function tick(): void {
  const next = { busy: busyMs(), at: performance.now() }
  // The kernel counts in ticks of some milliseconds, so the clock may be more exact.
  const passed = next.at - last.at
  const busy = Math.min(next.busy - last.busy, passed)
  last = next
  if (busy > shortHold) quietSince = next.at
  // Collections are reported a little later, so a long hold is corrected when they are known.
  if (busy > heldMs) setTimeout(settle, 5, busy, passed, garbage)
}

/** Collections are timed by the clock, which a busy machine stretches like the whole hold: so their share of it counts. */
function settle(busy: number, passed: number, garbageBefore: number): void {
  const share = Math.min(1, (garbage - garbageBefore) / passed)
  heldMs = Math.max(heldMs, busy * (1 - share))
}

async function receive(message: unknown): Promise<void> {
  if (message === 'close') {
    await gateway.close({ graceMs: 0 })
    process.exit()
  }
  quietSince = performance.now()
  while (performance.now() - quietSince < quietMs) await pause(quietMs / 2)
  const { user, system } = process.cpuUsage()
  const vitals: Vitals = { heldMs, spentMs: (user + system) / 1000 }
  heldMs = 0
  process.send?.(vitals)
}

function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
