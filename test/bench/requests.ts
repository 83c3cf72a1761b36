/** Measures accepting: what a request costs until its answer, beside a bare Fastify echo of the same body; and what a signature adds. */

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { signedByGitHub } from '../signed.ts'
import { type Burst, fire, type Shot } from './client.ts'
import { type CpuTime, startCpuCount, threadKinds } from './kernel.ts'
import type { Comparison, Sample, Variant } from './measure.ts'
import { kilobytes, pullRequest } from './payload.ts'
import {
  type Checkout,
  type GatewayOptions,
  here,
  hookHeaders,
  type Server,
  serve,
  startGateway,
} from './server.ts'

interface Scenario {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly headers?: Record<string, string>
  readonly gateway?: GatewayOptions
  /** Default: those of the command line. */
  readonly connections?: readonly number[]
}

/** By number, because on a loaded machine a second would not get the hot code compiled. */
const warmUp = { connections: 32, requests: 8000 }
/** Milliseconds in which the work left by a burst is mostly done. */
const settlingMs = 200
const signingSecret = 'bench-signing-secret-0123456789abcdef'

export const agentBody = JSON.stringify({
  message: 'Summarise what happened last night',
  name: 'Nightly',
  deliver: false,
  wakeMode: 'next-heartbeat',
})
const wakeBody = JSON.stringify({ text: 'The nightly build is green again', mode: 'now' })
const toMapping = {
  path: '/hooks/github',
  body: pullRequest,
  headers: { 'x-github-event': 'pull_request' },
}
const message =
  'Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}'
const conditionFile = `mappings:
  - id: opened
    match:
      path: github
      when: action = "opened" and pull_request.draft = false and $exists(repository.full_name)
    message: "${message}"
    deliver: false
    wakeMode: next-heartbeat
`

const scenarios: readonly Scenario[] = [
  { name: '/wake', path: '/hooks/wake', body: wakeBody },
  { name: '/agent', path: '/hooks/agent', body: agentBody, gateway: { holdRuns: true } },
  {
    ...toMapping,
    name: `GitHub mapping, ${kilobytes(pullRequest)} KB, one of 100 mappings`,
    gateway: { holdRuns: true, files: { 'mappings/github.yaml': mappingsFile(100) } },
  },
  {
    ...toMapping,
    name: `GitHub mapping, ${kilobytes(pullRequest)} KB, a condition of three clauses`,
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
    name: GitHub
    sessionKey: "hook:github:pr:{{pull_request.id}}:{{payload.number}}"
    message: "${message}"
    deliver: false
    wakeMode: next-heartbeat
`
  })
  return `mappings:\n${items.join('')}`
}

export function requestComparisons(
  checkouts: readonly Checkout[],
  connections: readonly number[],
  seconds: number,
): readonly Comparison[] {
  const accepting = scenarios.flatMap((scenario) =>
    (scenario.connections ?? connections).map((count) => {
      const burst = { connections: count, seconds }
      return {
        name: `${scenario.name}, ${count} ${count === 1 ? 'connection' : 'connections'}`,
        compared: 'perSecond',
        variants: [
          burstVariant('Fastify echo', startEcho, shotOf({ ...scenario, path: '/echo' }), burst),
          ...checkouts.map((checkout) => gatewayVariant(checkout.name, checkout, scenario, burst)),
        ],
      }
    }),
  )
  return [...accepting, verifyComparison({ connections: 32, seconds })]
}

/** An endpoint that takes the token beside one that verifies the body. */
function verifyComparison(burst: Burst): Comparison {
  const mapping = (endpoint: string) => `endpoints:
  signed: { verify: { provider: github, secret: ${signingSecret} } }
mappings:
  - { id: opened, match: { path: ${endpoint} }, message: "Review {{pull_request.title}}", deliver: false }
`
  const scenario = (endpoint: string, signature: Record<string, string>): Scenario => ({
    ...toMapping,
    name: 'verify',
    path: `/hooks/${endpoint}`,
    headers: { ...toMapping.headers, ...signature },
    gateway: { holdRuns: true, files: { 'mappings/opened.yaml': mapping(endpoint) } },
  })
  return {
    name: `verify a GitHub signature over ${kilobytes(pullRequest)} KB, 32 connections`,
    compared: 'perSecond',
    variants: [
      gatewayVariant('by token', here, scenario('token', {}), burst),
      gatewayVariant(
        'by signature',
        here,
        scenario('signed', signedByGitHub(pullRequest, signingSecret)),
        burst,
      ),
    ],
  }
}

function startEcho(): Promise<Server> {
  const program = fileURLToPath(new URL('./echo-server.ts', import.meta.url))
  return serve({ files: () => ({}), args: (_home, port) => [program, String(port)], env: () => ({}) })
}

function gatewayVariant(name: string, checkout: Checkout, scenario: Scenario, burst: Burst): Variant {
  return burstVariant(name, () => startGateway({ ...scenario.gateway, checkout }), shotOf(scenario), burst)
}

function shotOf({ path, headers, body }: Scenario): (url: string) => Shot {
  return (url) => ({ url: url + path, headers: { ...hookHeaders, ...headers }, bodies: [body] })
}

/** A server that is started and warmed up once, and takes a burst for each sample. */
export function burstVariant(
  name: string,
  start: () => Promise<Server>,
  shotAt: (url: string) => Shot,
  burst: Burst,
): Variant {
  return {
    name,
    async open() {
      const server = await start()
      const shot = shotAt(server.url)
      await fire(shot, warmUp)
      return {
        async take() {
          await pause(settlingMs)
          const spent = startCpuCount(server.pid)
          const { requests, ...result } = await fire(shot, burst)
          return { ...result, ...cpuFigures(spent(), requests) }
        },
        close: server.stop,
      }
    },
  }
}

/** Microseconds for each of `count`, in all and by thread. */
export function cpuFigures(spent: CpuTime, count: number): Sample {
  const each = threadKinds.map((kind) => [`cpu ${kind}`, spent[kind] / count] as const)
  return { cpu: each.reduce((total, [, time]) => total + time, 0), ...Object.fromEntries(each) }
}
