/** Measures accepting, and how soon a run starts, with SQLite and with several gateways on one PostgreSQL. */

import { setTimeout as pause } from 'node:timers/promises'
import { fire } from '../client.ts'
import { startCpuCount } from '../kernel.ts'
import { BenchError, type Comparison, quantile, type Sample } from '../measure.ts'
import { agentBody } from '../requests.ts'
import { hookHeaders, readApi, type Server, startGateway } from '../server.ts'
import type { Databases } from './databases.ts'

/** Gateways that are measured together. Without `roles` there is one, on SQLite. */
interface Setting {
  readonly name: string
  readonly roles?: readonly ('all' | 'ingress')[]
}

const connections = 32
/** For each gateway. */
const warmUp = 3000
const perSecond = 100
/** Milliseconds in which the work left by a warm-up is mostly done. */
const settlingMs = 500
/** Milliseconds that the runs accepted last may take. */
const maxStartMs = 10_000

/** `counts` are numbers of gateways on PostgreSQL. */
export function gatewayComparisons(
  databases: Databases,
  counts: readonly number[],
  seconds: number,
): readonly Comparison[] {
  const settings: readonly Setting[] = [
    { name: 'SQLite' },
    ...counts.map((count) => ({
      name: `PostgreSQL, gateways: ${count}`,
      roles: Array<'all'>(count).fill('all'),
    })),
  ]
  const apart: Setting = {
    name: 'PostgreSQL, accepted at one gateway, performed at another',
    roles: ['ingress', 'all'],
  }
  // Gateways are started for each sample, so that none idles beside another.
  const variants = (of: readonly Setting[], holdRuns: boolean, measure: Measurement) =>
    of.map((setting) => ({
      name: setting.name,
      open: async () => ({
        take: () =>
          withGateways(databases, setting, holdRuns, (servers) =>
            measure(servers, seconds, databases.settle),
          ),
      }),
    }))
  return [
    {
      name: `PostgreSQL: accepting, runs held back, ${connections} connections`,
      compared: 'perSecond',
      variants: variants(settings, true, measureAccepting),
    },
    {
      name: `PostgreSQL: accept to start of the run, ${perSecond} accepts a second`,
      compared: 'p50Ms',
      variants: variants([...settings, apart], false, measureStarting),
    },
  ]
}

type Measurement = (
  servers: readonly Server[],
  seconds: number,
  settle: () => Promise<void>,
) => Promise<Sample>

async function measureAccepting(...[servers, seconds, settle]: Parameters<Measurement>): Promise<Sample> {
  const [url = '', ...others] = servers.map((server) => `${server.url}/hooks/agent`)
  const shot = { url, others, headers: hookHeaders, bodies: [agentBody] }
  await fire(shot, { connections, requests: warmUp * servers.length })
  await settle()
  await pause(settlingMs)
  const counts = servers.map(({ pid }) => startCpuCount(pid))
  const { requests, ...result } = await fire(shot, { connections, seconds })
  const spent = counts.flatMap((count) => Object.values(count())).reduce((sum, each) => sum + each, 0)
  return { ...result, cpu: spent / requests }
}

/** Milliseconds from sending a request until its run starts, so accepting is part of it. The first gateway alone accepts. */
async function measureStarting(...[servers, seconds, settle]: Parameters<Measurement>): Promise<Sample> {
  const [first] = servers as [Server]
  await sendSteadily(first, 200)
  await settle()
  await pause(settlingMs)
  const sent = await sendSteadily(first, seconds * perSecond)
  const ms: number[] = []
  for (const { runId, at } of sent) ms.push((await startOf(first, runId)) - at)
  return {
    p50Ms: quantile(ms, 0.5),
    p99Ms: quantile(ms, 0.99),
    answeredMs: quantile(
      sent.map(({ answeredMs }) => answeredMs),
      0.5,
    ),
  }
}

/** Sends requests at a steady rate, whether or not those before are answered. */
async function sendSteadily({ url }: Server, count: number) {
  const start = performance.now()
  const answers = []
  for (let index = 0; index < count; index++) {
    const early = start + (index * 1000) / perSecond - performance.now()
    if (early > 0) await pause(early)
    answers.push(send())
  }
  return Promise.all(answers)

  async function send() {
    const at = Date.now()
    const answer = await fetch(`${url}/hooks/agent`, {
      method: 'POST',
      headers: hookHeaders,
      body: agentBody,
    })
    const text = await answer.text()
    if (!answer.ok) throw new BenchError(`${url} answered ${answer.status} ${text.slice(0, 600)}`)
    const { runId } = JSON.parse(text) as { readonly runId: string }
    return { runId, at, answeredMs: Date.now() - at }
  }
}

/** The time at which a run was started, by the clock of this machine. Milliseconds. */
async function startOf(server: Server, runId: string): Promise<number> {
  for (const deadline = performance.now() + maxStartMs; performance.now() < deadline; ) {
    const { startedAt } = await readApi<{ readonly startedAt?: number }>(server, `runs/${runId}`)
    if (startedAt !== undefined) return startedAt
    await pause(50)
  }
  throw new BenchError(`Run ${runId} was not started within ${maxStartMs / 1000} s.`)
}

async function withGateways<Result>(
  databases: Databases,
  { roles }: Setting,
  holdRuns: boolean,
  measure: (servers: readonly Server[]) => Promise<Result>,
): Promise<Result> {
  const store = roles && (await databases.create())
  const servers: Server[] = []
  try {
    // One after the other: the first one makes the tables.
    for (const [index, role] of (roles ?? ['all' as const]).entries())
      servers.push(await startGateway({ holdRuns, ...(store && { store, role, node: `node-${index + 1}` }) }))
    return await measure(servers)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    if (store) await databases.drop(store)
  }
}
