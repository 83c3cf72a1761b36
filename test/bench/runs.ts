/** Measures performing runs from the first post to the end of the last run, with a runner that answers at once. */

import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gatewayToken, hookToken, startGateway } from './server.ts'

export interface Performing {
  readonly name: string
  readonly runs: number
  /** One value for each round. */
  readonly acceptedPerSecond: readonly number[]
  /** One value for each round, from the first post to the end of the last run. */
  readonly performedPerSecond: readonly number[]
}

const runs = 4000
const connections = 32

const kinds = [
  { name: 'no session key, 4 at a time', sessions: 0, concurrency: 4 },
  { name: '200 session keys, 4 at a time', sessions: 200, concurrency: 4 },
  { name: '200 session keys, 64 at a time', sessions: 200, concurrency: 64 },
  { name: 'one session key', sessions: 1, concurrency: 64 },
]

export async function measureRuns(rounds: number, progress: (text: string) => void): Promise<Performing[]> {
  const found = kinds.map(({ name }) => ({
    name,
    runs,
    acceptedPerSecond: [] as number[],
    performedPerSecond: [] as number[],
  }))
  // The kinds take turns, so that a noisy minute affects all of them.
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, kind] of kinds.entries()) {
      progress(`runs, ${kind.name}: round ${round} of ${rounds}`)
      const { accepted, performed } = await measure(kind)
      found[index]?.acceptedPerSecond.push(accepted)
      found[index]?.performedPerSecond.push(performed)
    }
  }
  return found
}

async function measure({ sessions, concurrency }: (typeof kinds)[number]) {
  const server = await startGateway({ logLevel: 'warn', concurrency })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  try {
    const startedAt = performance.now()
    let next = 0
    await Promise.all(
      Array.from({ length: connections }, async () => {
        for (let number = next++; number < runs; number = next++) {
          const sessionKey = sessions === 0 ? undefined : `hook:${number % sessions}`
          await post(`${server.url}/hooks/agent`, agent, {
            message: 'next',
            deliver: false,
            wakeMode: 'next-heartbeat',
            sessionKey,
          })
        }
      }),
    )
    const acceptedMs = performance.now() - startedAt
    while ((await isOpen(server.url, 'queued')) || (await isOpen(server.url, 'running'))) await pause(10)
    const performedMs = performance.now() - startedAt
    return { accepted: (runs * 1000) / acceptedMs, performed: (runs * 1000) / performedMs }
  } finally {
    agent.destroy()
    await server.stop()
  }
}

async function isOpen(url: string, state: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/runs?limit=1&state=${state}`, {
    headers: { authorization: `Bearer ${gatewayToken}` },
  })
  const { items } = (await answer.json()) as { items: unknown[] }
  return items.length > 0
}

function post(url: string, agent: Agent, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      incoming.resume()
      incoming.on('end', () =>
        incoming.statusCode === 202 ? resolve() : reject(new Error(`answered ${incoming.statusCode}`)),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify(body))
  })
}
