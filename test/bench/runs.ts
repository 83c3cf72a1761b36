/** Measures performing runs with the runner `echo`, which answers at once, from the first post to the end of the last run. */

import { setTimeout as pause } from 'node:timers/promises'
import { fire } from './client.ts'
import { startCpuCount } from './kernel.ts'
import type { Comparison, Sample } from './measure.ts'
import { cpuFigures } from './requests.ts'
import { type Checkout, gatewayToken, hookToken, startGateway } from './server.ts'

const connections = 32

/** With fewer runs left at the end of the posts, their CPU is not counted: what ends with the last requests would be most of it. */
const minLeft = 300

interface Kind {
  readonly name: string
  readonly sessions: number
  readonly concurrency: number
  readonly runs: number
}

const kinds: readonly Kind[] = [
  { name: 'no session key, 4 at a time', sessions: 0, concurrency: 4, runs: 4000 },
  { name: '200 session keys, 4 at a time', sessions: 200, concurrency: 4, runs: 4000 },
  { name: '200 session keys, 64 at a time', sessions: 200, concurrency: 64, runs: 4000 },
  { name: 'one session key', sessions: 1, concurrency: 64, runs: 1000 },
]

export function runComparisons(checkouts: readonly Checkout[]): readonly Comparison[] {
  return kinds.map((kind) => ({
    name: `runs, ${kind.name}`,
    compared: 'performedPerSecond',
    variants: checkouts.map(({ name }) => name),
    openSeconds: 0,
    sampleSeconds: 4,
    open: async () => ({
      take: (variant) =>
        measure(
          kind,
          checkouts.find(({ name }) => name === variant),
        ),
      close: async () => {},
    }),
  }))
}

async function measure({ sessions, concurrency, runs }: Kind, checkout?: Checkout): Promise<Sample> {
  const server = await startGateway({ checkout, concurrency })
  try {
    const shot = {
      url: `${server.url}/hooks/agent`,
      headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' },
      bodies: Array.from({ length: Math.max(sessions, 1) }, (_, session) => bodyOf(sessions, session)),
    }
    const start = performance.now()
    const accepted = await fire(shot, { connections, requests: runs })
    const spent = startCpuCount(server.pid)
    // While nothing is accepted any more, all that is spent is spent on the runs that are left.
    const left = await backlog(server.url)
    for (let open = left; open > 0; open = await backlog(server.url))
      await pause(Math.min(100, 2 + open / 10))
    const cpu = left < minLeft ? {} : cpuFigures(spent(), left)
    const ms = performance.now() - start
    return { performedPerSecond: (runs * 1000) / ms, acceptedPerSecond: accepted.perSecond, left, ...cpu }
  } finally {
    await server.stop()
  }
}

function bodyOf(sessions: number, session: number): string {
  const sessionKey = sessions === 0 ? undefined : `hook:${session}`
  return JSON.stringify({ message: 'next', deliver: false, wakeMode: 'next-heartbeat', sessionKey })
}

/** Returns how many runs are queued. The few that are being performed do not count. */
async function backlog(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/health`, { headers: { authorization: `Bearer ${gatewayToken}` } })
  const health = (await answer.json()) as { readonly backlog: number }
  return health.backlog
}
