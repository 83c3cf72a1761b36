/** Measures accepting: what a request costs until its answer, beside a bare Fastify echo of the same body; and what a log line and a signature add. */

import { setTimeout as pause } from 'node:timers/promises'
import { signedByGitHub } from '../signed.ts'
import { type Burst, fire, type Shot } from './client.ts'
import { startCpuCount, type ThreadKind, threadKinds } from './kernel.ts'
import { type Bed, type Comparison, echo, type Sample } from './measure.ts'
import { kilobytes, pullRequest } from './payload.ts'
import {
  type Checkout,
  type GatewayOptions,
  here,
  hookToken,
  type Server,
  signingSecret,
  startEcho,
  startGateway,
} from './server.ts'

interface Scenario {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly headers?: Record<string, string>
  readonly gateway?: GatewayOptions
  /** True if each sample has a gateway of its own, because the unfinished work of one would cost the next one. */
  readonly fresh?: boolean
  /** Default: those of the command line. */
  readonly connections?: readonly number[]
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }
/** By number, because on a loaded machine a second would not get the hot code compiled. */
const warmUp = { connections: 32, requests: 8000 }
const expectedWarmUpSeconds = 1.5
/** Milliseconds in which the work left by a burst is mostly done. */
const settlingMs = 200

export const wake = JSON.stringify({ text: 'The nightly build is green again', mode: 'now' })
const agent = JSON.stringify({
  message: 'Summarise what happened last night',
  name: 'Nightly',
  deliver: false,
  wakeMode: 'next-heartbeat',
})

const toAgent = { path: '/hooks/agent', body: agent }
const toMapping = {
  path: '/hooks/github',
  body: pullRequest,
  headers: { 'x-github-event': 'pull_request' },
}
const conditionFile = `mappings:
  - id: opened
    match:
      path: github
      when: action = "opened" and pull_request.draft = false and $exists(repository.full_name)
    action: agent
    message: "Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}"
    deliver: false
    wakeMode: next-heartbeat
`
const mapped = { 'mappings/github.yaml': mappingsFile(100) }
const name = `GitHub mapping, ${kilobytes(pullRequest)} KB, one of 100 mappings`

const scenarios: readonly Scenario[] = [
  { name: '/wake', path: '/hooks/wake', body: wake },
  { name: '/agent, its run held back', ...toAgent, gateway: { holdRuns: true } },
  { name: '/agent, runs performed meanwhile', ...toAgent, fresh: true, connections: [32] },
  { name: `${name}, its run held back`, ...toMapping, gateway: { holdRuns: true, files: mapped } },
  {
    name: `${name}, runs performed meanwhile`,
    ...toMapping,
    gateway: { files: mapped },
    fresh: true,
    connections: [32],
  },
  {
    name: `${kilobytes(pullRequest)} KB, one mapping with a condition of three clauses, its run held back`,
    ...toMapping,
    gateway: { holdRuns: true, files: { 'mappings/github.yaml': conditionFile } },
    connections: [32],
  },
]

/** Only the last of the mappings is for the repository of the payload. */
function mappingsFile(count: number): string {
  const { repository } = JSON.parse(pullRequest) as { repository: { full_name: string } }
  const items = Array.from({ length: count }, (_, index) => {
    const fullName = index === count - 1 ? repository.full_name : `harbour-lights/repository-${index}`
    return `  - id: github-pr-opened-${index}
    match:
      path: github
      headers: { x-github-event: pull_request }
      body: { action: opened, repository: { full_name: ${fullName} } }
    action: agent
    name: GitHub
    sessionKey: "hook:github:pr:{{pull_request.id}}:{{payload.number}}"
    message: "Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}"
    deliver: false
    wakeMode: next-heartbeat
`
  })
  return `mappings:\n${items.join('')}`
}

/** The server that a variant's requests go to. */
export interface Target {
  readonly name: string
  start(): Promise<Server>
  shot(url: string): Shot
}

export function requestComparisons(
  checkouts: readonly Checkout[],
  connections: readonly number[],
  seconds: number,
): readonly Comparison[] {
  const bursts = (scenario: Scenario) =>
    (scenario.connections ?? connections).map((count) => ({ connections: count, seconds }))
  return [
    ...scenarios.flatMap((scenario) =>
      bursts(scenario).map((burst) => scenarioComparison(scenario, burst, checkouts)),
    ),
    logComparison(checkouts, { connections: 32, seconds }),
    verifyComparison({ connections: 32, seconds }),
  ]
}

function scenarioComparison(scenario: Scenario, burst: Burst, checkouts: readonly Checkout[]): Comparison {
  const bare = { name: echo, start: startEcho, shot: shotAt('/echo', scenario) }
  const gateways = checkouts.map((checkout) => gatewayTarget(checkout.name, checkout, scenario))
  return burstComparison(`${scenario.name}, ${words(burst)}`, [bare, ...gateways], burst, scenario.fresh)
}

function logComparison(checkouts: readonly Checkout[], burst: Burst): Comparison {
  const [scenario] = scenarios as [Scenario]
  const targets = checkouts.flatMap((checkout) => [
    gatewayTarget(`${checkout.name}, no log line`, checkout, scenario),
    gatewayTarget(`${checkout.name}, a log line each`, checkout, {
      ...scenario,
      gateway: { logLevel: 'info' },
    }),
  ])
  return burstComparison(`/wake with a log line, ${words(burst)}`, targets, burst)
}

/** An endpoint that takes the token beside one that verifies the body. */
function verifyComparison(burst: Burst): Comparison {
  const signature = signedByGitHub(pullRequest, signingSecret)
  const targets = [
    gatewayTarget('by token', here, verifyScenario('token', {})),
    gatewayTarget('by signature', here, verifyScenario('signed', signature)),
  ]
  return burstComparison(`verify a GitHub signature over ${kilobytes(pullRequest)} KB`, targets, burst)
}

function verifyScenario(endpoint: string, signature: Record<string, string>): Scenario {
  const mapping = `endpoints:
  signed: { verify: { provider: github, secret: ${signingSecret} } }
mappings:
  - { id: opened, match: { path: ${endpoint} }, message: "Review {{pull_request.title}}", deliver: false }
`
  return {
    ...toMapping,
    name: 'verify',
    path: `/hooks/${endpoint}`,
    headers: { ...toMapping.headers, ...signature },
    gateway: { holdRuns: true, files: { 'mappings/opened.yaml': mapping } },
  }
}

function gatewayTarget(name: string, checkout: Checkout, scenario: Scenario): Target {
  return {
    name,
    start: () => startGateway({ ...scenario.gateway, checkout }),
    shot: shotAt(scenario.path, scenario),
  }
}

function shotAt(path: string, scenario: Scenario): (url: string) => Shot {
  return (url) => ({
    url: url + path,
    headers: { ...headers, ...scenario.headers },
    bodies: [scenario.body],
  })
}

function words({ connections }: Burst): string {
  return `${connections} ${connections === 1 ? 'connection' : 'connections'}`
}

export function burstComparison(
  name: string,
  targets: readonly Target[],
  burst: Burst,
  fresh = false,
): Comparison {
  const start = 1 + expectedWarmUpSeconds
  return {
    name,
    compared: 'perSecond',
    variants: targets.map((target) => target.name),
    openSeconds: fresh ? 0 : targets.length * start,
    sampleSeconds: (burst.seconds ?? 0) + settlingMs / 1000 + (fresh ? start : 0),
    open: () => (fresh ? openFresh(targets, burst) : openKept(targets, burst)),
  }
}

async function openKept(targets: readonly Target[], burst: Burst): Promise<Bed> {
  const servers = new Map<string, { readonly server: Server; readonly shot: Shot }>()
  const close = async () => {
    for (const { server } of servers.values()) await server.stop()
  }
  try {
    for (const target of targets) {
      const server = await target.start()
      const shot = target.shot(server.url)
      servers.set(target.name, { server, shot })
      await fire(shot, warmUp)
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    async take(variant) {
      const { server, shot } = servers.get(variant) as { server: Server; shot: Shot }
      await pause(settlingMs)
      return measureBurst(server, shot, burst)
    },
    close,
  }
}

async function openFresh(targets: readonly Target[], burst: Burst): Promise<Bed> {
  return {
    async take(variant) {
      const target = targets.find((each) => each.name === variant) as Target
      const server = await target.start()
      try {
        const shot = target.shot(server.url)
        await fire(shot, warmUp)
        return await measureBurst(server, shot, burst)
      } finally {
        await server.stop()
      }
    },
    close: async () => {},
  }
}

async function measureBurst(server: Server, shot: Shot, burst: Burst): Promise<Sample> {
  const spent = startCpuCount(server.pid)
  const { requests, ...result } = await fire(shot, burst)
  return { ...result, ...cpuFigures(spent(), requests) }
}

/** Microseconds for each of `count`, in all and by thread. */
export function cpuFigures(spent: Readonly<Record<ThreadKind, number>>, count: number): Sample {
  const each = threadKinds.map((kind) => [`cpu ${kind}`, spent[kind] / count] as const)
  return { cpu: each.reduce((total, [, time]) => total + time, 0), ...Object.fromEntries(each) }
}
