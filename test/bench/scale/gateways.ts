/** Measures accepting, and how soon a run starts, with SQLite and with several gateways on one PostgreSQL. */

import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BenchError } from '../bench-error.ts'
import { fire } from '../client.ts'
import { startCpuCount } from '../kernel.ts'
import { type Comparison, quantile, type Sample } from '../measure.ts'
import { type GatewayOptions, hookToken, type Server, startGateway, workFolder } from '../server.ts'
import type { Databases } from './databases.ts'

/** Gateways that are measured together. Without `roles` there is one, on SQLite. */
interface Setting {
  readonly name: string
  readonly roles?: readonly ('all' | 'ingress')[]
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }
const agent = JSON.stringify({
  message: 'Summarise what happened last night',
  name: 'Nightly',
  deliver: false,
  wakeMode: 'next-heartbeat',
})
const connections = 32
/** For each gateway. */
const warmUp = 3000
/** Milliseconds in which the work left by a warm-up is mostly done. */
const settlingMs = 500
const startingRunner = {
  folder: fileURLToPath(new URL('./starting-runner', import.meta.url)),
  name: 'starting',
}

const postgresql = (count: number) =>
  `PostgreSQL, ${['no', 'one', 'two', 'three', 'four'][count] ?? count} ${count === 1 ? 'gateway' : 'gateways'}`
const elsewhere = 'PostgreSQL, accepted at one gateway, performed at another'

/** `counts` are numbers of gateways on PostgreSQL. */
export function gatewayComparisons(
  databases: () => Promise<Databases>,
  counts: readonly number[],
  seconds: number,
): readonly Comparison[] {
  const several = counts.map((count) => ({
    name: postgresql(count),
    roles: Array<'all'>(count).fill('all'),
  }))
  const apart: Setting = { name: elsewhere, roles: ['ingress', 'all'] }
  const usual: readonly Setting[] = [{ name: 'SQLite' }, ...several]
  return [
    comparison(
      `PostgreSQL: accepting, runs held back, ${connections} connections`,
      'perSecond',
      usual,
      seconds,
      (setting) => sampleOfAccepting(databases, setting, seconds),
    ),
    comparison(
      'PostgreSQL: accept to start of the run, 100 accepts a second',
      'p50Ms',
      [...usual, apart],
      seconds,
      (setting) => sampleOfStarting(databases, setting, seconds),
    ),
  ]
}

function comparison(
  name: string,
  compared: string,
  settings: readonly Setting[],
  seconds: number,
  take: (setting: Setting) => Promise<Sample>,
): Comparison {
  return {
    name,
    compared,
    variants: settings.map((setting) => setting.name),
    openSeconds: 0,
    // Gateways are started for each sample, so that none idles beside another.
    sampleSeconds: seconds + 6,
    open: async () => ({
      take: (variant) => take(settings.find((setting) => setting.name === variant) as Setting),
      close: async () => {},
    }),
  }
}

async function sampleOfAccepting(
  databases: () => Promise<Databases>,
  setting: Setting,
  seconds: number,
): Promise<Sample> {
  return withGateways(databases, setting, { holdRuns: true }, async (servers, postgres) => {
    const [first, ...others] = servers.map(({ url }) => `${url}/hooks/agent`)
    const shot = { url: first ?? '', others, headers, bodies: [agent] }
    await fire(shot, { connections, requests: warmUp * servers.length })
    await postgres?.settle()
    await pause(settlingMs)
    const counts = servers.map(({ pid }) => startCpuCount(pid))
    const ofPostgres = postgres?.startCpuCount()
    const { requests, ...result } = await fire(shot, { connections, seconds })
    const gateways = counts.flatMap((count) => Object.values(count())).reduce((sum, each) => sum + each, 0)
    const database = ofPostgres?.() ?? 0
    return {
      ...result,
      cpu: (gateways + database) / requests,
      'cpu gateways': gateways / requests,
      ...(ofPostgres && { 'cpu PostgreSQL': database / requests }),
    }
  })
}

const perSecond = 100
/** Milliseconds that the runs accepted last may take. */
const maxStartMs = 10_000

/** Milliseconds from sending a request until its runner is called, so accepting is part of it. */
async function sampleOfStarting(
  databases: () => Promise<Databases>,
  setting: Setting,
  seconds: number,
): Promise<Sample> {
  await mkdir(workFolder, { recursive: true })
  const file = join(workFolder, `starts-${randomUUID()}`)
  writeFileSync(file, '')
  const options = { runner: startingRunner, env: { REVEILLE_BENCH_STARTS: file } }
  return withGateways(databases, setting, options, async (servers, postgres) => {
    const isIngress = (index: number) => setting.roles?.[index] === 'ingress'
    const doors = servers.some((_, index) => isIngress(index))
      ? servers.filter((_, index) => isIngress(index))
      : servers
    await sendSteadily(doors, 200)
    await postgres?.settle()
    await pause(settlingMs)
    const sent = await sendSteadily(doors, seconds * perSecond)
    const begun = await startsOf(file, [...sent.keys()])
    const ms = [...sent].map(([id, { at }]) => Number((begun.get(id) as bigint) - at) / 1e6)
    return {
      p50Ms: quantile(ms, 0.5),
      p99Ms: quantile(ms, 0.99),
      answeredMs: quantile(
        [...sent.values()].map(({ answeredMs }) => answeredMs),
        0.5,
      ),
    }
  })
}

interface Sent {
  readonly at: bigint
  readonly answeredMs: number
}

/** Sends requests at a steady rate, whether or not those before are answered. Returns them by run. */
async function sendSteadily(servers: readonly Server[], count: number): Promise<ReadonlyMap<string, Sent>> {
  const start = performance.now()
  const sent = new Map<string, Sent>()
  const answers: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    const early = start + (index * 1000) / perSecond - performance.now()
    if (early > 0) await pause(early)
    answers.push(send(servers[index % servers.length] as Server))
  }
  await Promise.all(answers)
  return sent

  async function send({ url }: Server): Promise<void> {
    const at = process.hrtime.bigint()
    const answer = await fetch(`${url}/hooks/agent`, { method: 'POST', headers, body: agent })
    const text = await answer.text()
    if (!answer.ok) throw new BenchError(`${url} answered ${answer.status} ${text.slice(0, 600)}`)
    const { runId } = JSON.parse(text) as { runId: string }
    sent.set(runId, { at, answeredMs: Number(process.hrtime.bigint() - at) / 1e6 })
  }
}

async function startsOf(file: string, runs: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  for (const deadline = performance.now() + maxStartMs; performance.now() < deadline; ) {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    const begun = new Map(
      lines.map((line) => {
        const [run = '', at = ''] = line.split(' ')
        return [run, BigInt(at)] as const
      }),
    )
    if (runs.every((run) => begun.has(run))) return begun
    await pause(50)
  }
  throw new BenchError(`Some of ${runs.length} runs were not started within ${maxStartMs / 1000} s.`)
}

async function withGateways<Result>(
  databases: () => Promise<Databases>,
  { roles }: Setting,
  options: GatewayOptions,
  measure: (servers: readonly Server[], postgres: Databases | undefined) => Promise<Result>,
): Promise<Result> {
  const postgres = roles && (await databases())
  const store = await postgres?.create()
  const servers: Server[] = []
  try {
    // One after the other: the first one makes the tables.
    for (const [index, role] of (roles ?? ['all' as const]).entries())
      servers.push(
        await startGateway({ ...options, ...(store && { store, role, node: `node-${index + 1}` }) }),
      )
    return await measure(servers, postgres)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    if (store) await postgres?.drop(store)
  }
}
