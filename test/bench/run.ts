/**
 * Runs `npm run bench`. It measures accepting as a ratio to a bare Fastify echo in the same run, resolving and
 * reloading by the number of mappings, verifying a signature, and performing runs by session keys. `--only resolve`,
 * `--only reload`, `--only verify` and `--only runs` do one of these alone. The echo and the gateway take turns in
 * every round, so that a noisy minute affects both, and the median round counts.
 */

import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { type Client, clients, type Result, type Shot } from './client.ts'
import { measureReload, quantile, type Reloading } from './reload.ts'
import { measureResolve, type Scaling, sizes } from './resolve.ts'
import { measureRuns, type Performing } from './runs.ts'
import { hookToken, type Server, startEcho, startGateway } from './server.ts'
import { measureVerify, type Verifying } from './verify.ts'

const { values } = parseArgs({
  options: {
    client: { type: 'string', default: 'autocannon' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  process.stdout.write(
    `Usage: npm run bench -- [--client autocannon|wrk] [--seconds 4] [--rounds 3] [--connections 32] [--only TEXT] [--json]\n`,
  )
  process.exit(0)
}

const client = clients[values.client] as Client
if (!client) throw new Error(`--client takes ${Object.keys(clients).join(' or ')}, not "${values.client}"`)
const burst = { connections: Number(values.connections), seconds: Number(values.seconds) }

const headers = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }
const wake = JSON.stringify({ text: 'The nightly build is green again', mode: 'now' })
const agent = JSON.stringify({
  message: 'Summarise what happened last night',
  name: 'Nightly',
  deliver: false,
})
const pullRequest = pullRequestBody()

interface Scenario {
  readonly name: string
  readonly body: string
  readonly path: string
  readonly extraHeaders?: Record<string, string>
  readonly logLevel: 'info' | 'warn'
}

const github = {
  path: '/hooks/github',
  body: pullRequest,
  extraHeaders: { 'x-github-event': 'pull_request' },
}
const scenarios: Scenario[] = [
  { name: '/wake, durable', path: '/hooks/wake', body: wake, logLevel: 'warn' as const },
  { name: '/wake, durable, a log line each', path: '/hooks/wake', body: wake, logLevel: 'info' as const },
  { name: '/agent, echo runner', path: '/hooks/agent', body: agent, logLevel: 'warn' as const },
  { name: `GitHub mapping, ${kilobytes(pullRequest)} KB`, ...github, logLevel: 'warn' as const },
].filter((scenario) => scenario.name.includes(values.only))

const report: Awaited<ReturnType<typeof compare>>[] = []
for (const scenario of scenarios) report.push(await compare(scenario))
const resolving = 'resolve'.includes(values.only)
  ? await measureResolve(JSON.parse(pullRequest), 5 * Number(values.rounds), progress)
  : []
const reloading = 'reload'.includes(values.only)
  ? await measureReload(5 * Number(values.rounds), progress)
  : []
const verifying = 'verify'.includes(values.only)
  ? await measureVerify(pullRequest, { client, burst, rounds: 2 * Number(values.rounds) + 1, progress })
  : undefined
const performing = 'runs'.includes(values.only) ? await measureRuns(Number(values.rounds), progress) : []
const idle = values.only === '' ? await idleMemory() : undefined
print()

async function compare(scenario: Scenario) {
  const rounds: { ratio: number; echo: Result; ours: Result }[] = []
  for (let round = 1; round <= Number(values.rounds); round++) {
    progress(`${scenario.name}: round ${round} of ${values.rounds}`)
    const echo = await measure(startEcho, (url) => ({ url: `${url}/echo`, headers, body: scenario.body }))
    const ours = await measure(
      () => startGateway(scenario),
      (url) => ({
        url: url + scenario.path,
        headers: { ...headers, ...scenario.extraHeaders },
        body: scenario.body,
      }),
    )
    rounds.push({ ratio: ours.perSecond / echo.perSecond, echo, ours })
  }
  rounds.sort((a, b) => a.ratio - b.ratio)
  const median = rounds[Math.floor(rounds.length / 2)] as (typeof rounds)[number]
  return { name: scenario.name, ...median, ratios: rounds.map(({ ratio }) => ratio) }
}

async function measure(start: () => Promise<Server>, shot: (url: string) => Shot): Promise<Result> {
  const server = await start()
  try {
    await client(shot(server.url), { ...burst, seconds: 1 })
    const result = await client(shot(server.url), burst)
    if (result.failed > 0) throw new Error(`${result.failed} of the answers were not 2xx`)
    return result
  } finally {
    await server.stop()
  }
}

/**
 * Resident memory three seconds after the start, and a quarter of a minute after the first wake and its heartbeat.
 */
async function idleMemory(): Promise<{ started: number; rested: number }> {
  progress('idle memory')
  const server = await startGateway({ logLevel: 'info' })
  try {
    await rest(3000)
    const started = server.residentMegabytes()
    await fetch(`${server.url}/hooks/wake`, { method: 'POST', headers, body: wake })
    await rest(15_000)
    return { started, rested: server.residentMegabytes() }
  } finally {
    await server.stop()
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function print(): void {
  progress('')
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ client: values.client, burst, report, resolving, reloading, verifying, performing, idleMegabytes: idle }, null, 2)}\n`,
    )
    return
  }
  if (report.length > 0) printReport()
  if (resolving.length > 0) printScalings(resolving)
  if (reloading.length > 0) printReloadings(reloading)
  if (verifying) printVerifying(verifying)
  if (performing.length > 0) printPerforming(performing)
  if (idle === undefined) return
  process.stdout.write(
    `\nidle memory (RSS)  ${idle.started.toFixed(1)} MB started, ${idle.rested.toFixed(1)} MB rested after a wake\n`,
  )
}

function printReport(): void {
  const width = Math.max(...report.map(({ name }) => name.length), 10)
  const listWidth = Math.max('0.00 '.length * Number(values.rounds), '(all rounds)'.length)
  process.stdout.write(
    `${burst.connections} connections, ${burst.seconds} s a shot, median of ${values.rounds}, ${values.client}\n\n` +
      `${''.padEnd(width)}   ratio   ${'(all rounds)'.padEnd(listWidth)}   ours/s   echo/s   p99 ms\n`,
  )
  for (const { name, ratio, ratios, ours, echo } of report) {
    const all = ratios.map((each) => each.toFixed(2)).join(' ')
    process.stdout.write(
      `${name.padEnd(width)}   ${ratio.toFixed(2).padStart(5)}   ${all.padEnd(listWidth)} ${count(ours)} ${count(echo)} ${ours.p99.toFixed(1).padStart(8)}\n`,
    )
  }
}

function printScalings(scalings: readonly Scaling[]): void {
  const width = Math.max(...scalings.map(({ name }) => name.length))
  const columns = sizes.map((size) => size.toLocaleString('en').padStart(8)).join('')
  process.stdout.write(
    `\nresolve, as ratios to ${sizes[0]} mappings\n${''.padEnd(width)}${columns}   µs at ${sizes[0]}   compiled in   heap\n`,
  )
  for (const { name, ratios, microseconds, compiled } of scalings) {
    const cells = ratios.map((ratio) => ratio.toFixed(2).padStart(8)).join('')
    const [first = 0] = microseconds
    process.stdout.write(
      `${name.padEnd(width)}${cells}   ${first.toFixed(1).padStart(8)}   ${`${compiled.ms.toFixed(0)} ms`.padStart(11)}   ${compiled.megabytes.toFixed(1)} MB\n`,
    )
  }
}

function printVerifying({ token, signature, cost, costs }: Verifying): void {
  const all = costs.map((each) => `${(100 * each).toFixed(1)}`).join(' ')
  process.stdout.write(
    `\nverifying a GitHub signature over ${kilobytes(pullRequest)} KB: ${(100 * cost).toFixed(1)} % of the throughput (all rounds: ${all})\n` +
      `${Math.round(signature)}/s verified, ${Math.round(token)}/s by token, the whole way to the commit\n`,
  )
}

function printReloadings(reloadings: readonly Reloading[]): void {
  const width = Math.max(...reloadings.map(({ name }) => name.length))
  const [{ debounceMs, edits } = { debounceMs: 0, edits: [] }] = reloadings
  process.stdout.write(
    `\nreload, ms from saving a file to serving it, ${debounceMs} ms of them debounce; ${edits.length} edits each\n` +
      `${''.padEnd(width)}    median      p90   reloading   event loop held: median   longest   start\n`,
  )
  for (const { name, edits, startMs } of reloadings) {
    const cell = (field: keyof (typeof edits)[number], share: number, columns: number) =>
      quantile(
        edits.map((edit) => edit[field]),
        share,
      )
        .toFixed(1)
        .padStart(columns)
    process.stdout.write(
      `${name.padEnd(width)}   ${cell('ms', 0.5, 7)}  ${cell('ms', 0.9, 7)}     ${cell('reloadMs', 0.5, 7)}   ${cell('heldMs', 0.5, 23)}   ${cell('heldMs', 1, 7)}   ${startMs.toFixed(0).padStart(5)}\n`,
    )
  }
}

function printPerforming(performing: readonly Performing[]): void {
  const width = Math.max(...performing.map(({ name }) => name.length))
  const [first] = performing
  const median = (values: readonly number[]) => quantile([...values], 0.5)
  const base = median(first?.performedPerSecond ?? [])
  process.stdout.write(
    `\nruns of an instant runner, ${first?.runs ?? 0} of them, from the first post to the last one's end\n` +
      `${''.padEnd(width)}   accepted/s   performed/s   ratio to the first   (all rounds)\n`,
  )
  for (const { name, acceptedPerSecond, performedPerSecond } of performing) {
    const performed = median(performedPerSecond)
    const all = performedPerSecond.map((each) => each.toFixed(0)).join(' ')
    process.stdout.write(
      `${name.padEnd(width)}   ${median(acceptedPerSecond).toFixed(0).padStart(10)}   ${performed.toFixed(0).padStart(11)}   ${(performed / base).toFixed(2).padStart(18)}   ${all}\n`,
    )
  }
}

function count(result: Result): string {
  return Math.round(result.perSecond).toLocaleString('en').padStart(8)
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** A real delivery of GitHub from its SDK's package of examples. */
function pullRequestBody(): string {
  const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
    name: string
    examples: { action?: string }[]
  }[]
  const opened = examples
    .find(({ name }) => name === 'pull_request')
    ?.examples.find(({ action }) => action === 'opened')
  return JSON.stringify(opened)
}

function kilobytes(text: string): string {
  return (Buffer.byteLength(text) / 1024).toFixed(0)
}
