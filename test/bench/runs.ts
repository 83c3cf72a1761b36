/**
 * Measures performing runs with the runner `echo`, which answers at once, from the first post to the end of the last run; and starting, with
 * what is resident once the gateway is at rest.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { fire } from './client.ts'
import { cpuSinceStart, residentMegabytes, startCpuCount } from './kernel.ts'
import type { Comparison, Sample } from './measure.ts'
import { cpuFigures } from './requests.ts'
import { type Checkout, hookHeaders, readApi, startGateway } from './server.ts'

const restMs = 20_000

interface Kind {
  readonly sessions: number
  readonly concurrency: number
  readonly runs: number
}

const kinds: Readonly<Record<string, Kind>> = {
  'no session key, 4 at a time': { sessions: 0, concurrency: 4, runs: 4000 },
  '200 session keys, 4 at a time': { sessions: 200, concurrency: 4, runs: 4000 },
  '200 session keys, 64 at a time': { sessions: 200, concurrency: 64, runs: 4000 },
  'one session key': { sessions: 1, concurrency: 64, runs: 1000 },
}

export function runComparisons(checkouts: readonly Checkout[]): readonly Comparison[] {
  const runs = Object.entries(kinds).map(([name, kind]) =>
    comparisonOf(`runs, ${name}`, 'performedPerSecond', checkouts, (checkout) => measure(kind, checkout)),
  )
  return [...runs, comparisonOf('start, and memory at rest', 'readyMs', checkouts, measureStart)]
}

/** Each sample has a gateway of its own. */
function comparisonOf(
  name: string,
  compared: string,
  checkouts: readonly Checkout[],
  take: (checkout: Checkout) => Promise<Sample>,
): Comparison {
  const variants = checkouts.map((checkout) => ({
    name: checkout.name,
    open: async () => ({ take: () => take(checkout) }),
  }))
  return { name, compared, variants }
}

async function measureStart(checkout: Checkout): Promise<Sample> {
  const { pid, readyMs, stop } = await startGateway({ checkout })
  const cpuMs = cpuSinceStart(pid) / 1000
  await pause(restMs)
  const megabytes = residentMegabytes(pid)
  await stop()
  return { readyMs, cpuMs, megabytes }
}

async function measure({ sessions, concurrency, runs }: Kind, checkout: Checkout): Promise<Sample> {
  const server = await startGateway({ checkout, concurrency })
  // The few runs that are being performed do not count.
  const backlog = async () => (await readApi<{ readonly backlog: number }>(server, 'health')).backlog
  try {
    const bodies = Array.from({ length: Math.max(sessions, 1) }, (_, session) =>
      JSON.stringify({
        message: 'next',
        deliver: false,
        wakeMode: 'next-heartbeat',
        ...(sessions > 0 && { sessionKey: `hook:${session}` }),
      }),
    )
    const shot = { url: `${server.url}/hooks/agent`, headers: hookHeaders, bodies }
    const start = performance.now()
    const spent = startCpuCount(server.pid)
    const accepted = await fire(shot, { connections: 32, requests: runs })
    for (let open = await backlog(); open > 0; open = await backlog())
      await pause(Math.min(100, 2 + open / 10))
    const performedPerSecond = (runs * 1000) / (performance.now() - start)
    return { performedPerSecond, acceptedPerSecond: accepted.perSecond, ...cpuFigures(spent(), runs) }
  } finally {
    await server.stop()
  }
}
