/**
 * Writes `GET /metrics` in the text format of Prometheus. What happens is counted in plain numbers (`observe/counters.ts`), and everything else
 * comes from the status and the store; both become metrics when they are asked for. https://prometheus.io/docs/practices/naming/
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { boundsMs } from '../observe/histogram.ts'
import { packageVersion } from '../package-folder.ts'
import type { Store } from '../store/port.ts'
import type { AdminOptions } from './options.ts'
import { readinessOf } from './probes.ts'
import { type GatewayStatus, readStatus } from './status.ts'

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

export async function exposeMetrics(options: AdminOptions): Promise<string> {
  const metrics: string[] = []
  const add: AddMetric = (type, name, help, values) =>
    metrics.push(metricText(type, `reveille_${name}`, help, values))
  const { read } = options.store
  const [status, ...issues] = await Promise.all([
    readStatus(options),
    read.issues({ state: 'open', limit: maxIssues }),
    read.issues({ state: 'muted', limit: maxIssues }),
  ])
  exposeProcess(add, options, status)
  exposeRequests(add, options)
  exposeRuns(add, options, status.runs)
  exposeWork(add, status)
  exposeChannels(add, options, status)
  exposeSources(add, status)
  exposeCluster(add, status)
  const unsolved = issues.flatMap(({ items }) =>
    items.map(({ code, severity, state }) => JSON.stringify({ code, severity, state })),
  )
  add(
    'gauge',
    'issues',
    'Problems that are open or muted, as `reveille issues` lists them.',
    [...new Set(unsolved)].map((key) => one(unsolved.filter((each) => each === key).length, JSON.parse(key))),
  )
  return `${metrics.join('\n\n')}\n`
}

/** Of each state. There are a few dozen kinds of issues. */
const maxIssues = 500

/** One line of a metric. */
interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
  /** Where it differs from the metric's name. */
  readonly metricName?: string
}

type AddMetric = (
  type: 'gauge' | 'counter' | 'histogram' | 'summary',
  name: string,
  help: string,
  values: readonly Value[],
) => void

function metricText(type: string, name: string, help: string, values: readonly Value[]): string {
  const lines = values.map(({ metricName = name, labels, value }) => {
    const written = Object.entries(labels).map(
      ([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`,
    )
    return `${metricName}${written.length > 0 ? `{${written.join(',')}}` : ''} ${value}`
  })
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function one(value: number, labels: Value['labels'] = {}): Value {
  return { value, labels }
}

/** The labels of what was counted. */
function counted(cells: readonly { readonly labels: Value['labels']; readonly count: number }[]): Value[] {
  return cells.map(({ labels, count }) => one(count, labels))
}

/** Each of the wanted labels has a line, so that an alert finds a 0 where nothing has happened. */
function withZeros(values: readonly Value[], wanted: readonly Value['labels'][]): Value[] {
  const has = (labels: Value['labels']) =>
    values.some((each) => Object.entries(labels).every(([name, value]) => each.labels[name] === value))
  return [...values, ...wanted.filter((labels) => !has(labels)).map((labels) => one(0, labels))]
}

function exposeProcess(add: AddMetric, options: AdminOptions, status: GatewayStatus): void {
  const { generation } = options.current()
  const { areFilesRefused, reloads, oldTokens } = options.counters.read()
  const { droppedLines } = status.log
  add('gauge', 'build_info', 'Always 1; the labels say what runs.', [
    one(1, { version: packageVersion(), node: process.version }),
  ])
  const isReady = readinessOf(options.store, options.isDraining()) === undefined
  add('gauge', 'ready', '1 if requests are accepted, as `/readyz` says; otherwise 0.', [one(isReady ? 1 : 0)])
  add('gauge', 'generation', 'Number of the live generation.', [one(generation)])
  add(
    'counter',
    'reloads_total',
    'Changes of the files that were noticed, by what became of them.',
    withZeros(
      counted(reloads),
      ['applied', 'refused', 'unchanged'].map((result) => ({ result })),
    ),
  )
  add(
    'gauge',
    'files_refused',
    '1 if the current files were refused and an earlier generation is live; otherwise 0.',
    [one(areFilesRefused || status.lastGood !== null ? 1 : 0)],
  )
  add(
    'counter',
    'old_token_requests_total',
    'Requests with a token or secret that is not the newest of its list.',
    counted(oldTokens),
  )
  add('gauge', 'log_lines_dropped', 'Log lines that nothing took since the gateway started.', [
    one(droppedLines),
  ])
  add('counter', 'log_lines_dropped_total', 'Log lines that nothing took.', [one(droppedLines)])
  const delay = readEventLoopDelay()
  add('summary', 'event_loop_delay_seconds', 'How late the main thread was since the last scrape.', [
    ...[0.5, 0.99, 1].map((share) => one(delay(share), { quantile: String(share) })),
  ])
}

let eventLoop: ReturnType<typeof monitorEventLoopDelay> | undefined

/** Measuring wakes the process fifty times a second, so it begins with the first scrape, which is answered 0. */
function readEventLoopDelay(): (share: number) => number {
  const measured = eventLoop
  eventLoop ??= monitorEventLoopDelay({ resolution: 20 })
  if (measured === undefined) {
    eventLoop.enable()
    return () => 0
  }
  const values = [0.5, 0.99, 1].map((share): [number, number] => [share, measured.percentile(share * 100)])
  measured.reset()
  const late = new Map(values)
  // The time between two measurements is part of each.
  return (share) => Math.max(0, (late.get(share) ?? 0) / 1e9 - 0.02)
}

function exposeRequests(add: AddMetric, { counters }: AdminOptions): void {
  const { requests, acceptMs, commitMs } = counters.read()
  add(
    'counter',
    'requests_total',
    'Requests to hooks, by what became of them; endpoints that no policy and no mapping names are `other`.',
    counted(requests),
  )
  addHistogram(add, 'accept_duration_seconds', 'From the head of an accepted request to its reply.', acceptMs)
  addHistogram(
    add,
    'commit_duration_seconds',
    'Of that, from the decision to the reply: the commit.',
    commitMs,
  )
}

function addHistogram(
  add: AddMetric,
  name: string,
  help: string,
  {
    counts,
    sumMs,
    count,
  }: { readonly counts: readonly number[]; readonly sumMs: number; readonly count: number },
): void {
  let sum = 0
  const buckets = boundsMs.map((bound, index) => {
    sum += counts[index] ?? 0
    return { value: sum, labels: { le: String(bound / 1000) }, metricName: `reveille_${name}_bucket` }
  })
  add('histogram', name, help, [
    ...buckets,
    { value: count, labels: { le: '+Inf' }, metricName: `reveille_${name}_bucket` },
    { value: sumMs / 1000, labels: {}, metricName: `reveille_${name}_sum` },
    { value: count, labels: {}, metricName: `reveille_${name}_count` },
  ])
}

const endStates = ['succeeded', 'failed', 'timed-out', 'cancelled', 'parked']

function exposeRuns(
  add: AddMetric,
  { counters }: AdminOptions,
  open: Awaited<ReturnType<Store['read']['openRuns']>>,
): void {
  const { runs, tokens, costs } = counters.read()
  add(
    'gauge',
    'runs',
    'Runs that wait, are under way or are parked.',
    Object.entries(open).map(([state, count]) => one(count, { state })),
  )
  add(
    'counter',
    'runs_ended_total',
    'Turns that ended, by their end; a parked one may be resumed.',
    withZeros(
      counted(runs),
      endStates.map((state) => ({ kind: 'run', state })),
    ),
  )
  add('counter', 'tokens_total', 'Tokens of ended turns; cached input is part of the input.', counted(tokens))
  add('counter', 'cost_usd_total', 'Cost of ended turns, as far as prices are known.', counted(costs))
}

function exposeWork(add: AddMetric, { backlog, budgets, heartbeat }: GatewayStatus): void {
  add('gauge', 'backlog', 'Queued runs and unsent deliveries.', [one(backlog.waiting)])
  add('gauge', 'backlog_limit', 'Maximum number of them.', [one(backlog.limit)])
  add('gauge', 'heartbeat_failures', 'Turns of the main session in a row that failed.', [
    one(heartbeat.failures),
  ])
  const used: Value[] = []
  const limits: Value[] = []
  for (const { key, limit, runs, tokens, usd } of budgets) {
    for (const [of, spent] of Object.entries({ runs, tokens, usd })) {
      used.push(one(spent, { budget: key, of }))
      const bound = limit[of as 'runs' | 'tokens' | 'usd']
      if (bound !== undefined) limits.push(one(bound, { budget: key, of }))
    }
  }
  add('gauge', 'budget_used', 'Spent today (UTC).', used)
  add('gauge', 'budget_limit', 'Limit of spending in a day (UTC).', limits)
}

function exposeChannels(add: AddMetric, { counters }: AdminOptions, { channels }: GatewayStatus): void {
  add(
    'gauge',
    'channel_state',
    'Of each channel, the state that it is in.',
    channels.map(({ channel, state }) => one(1, { channel, state })),
  )
  add(
    'gauge',
    'deliveries',
    'Deliveries that wait or are parked.',
    channels.flatMap(({ channel, pending, parked }) => [
      one(pending, { channel, state: 'pending' }),
      one(parked, { channel, state: 'parked' }),
    ]),
  )
  add(
    'counter',
    'deliveries_ended_total',
    'Deliveries that ended, by their end; a parked one may be replayed.',
    counted(counters.read().deliveries),
  )
}

function exposeSources(add: AddMetric, { sources }: GatewayStatus): void {
  add(
    'gauge',
    'source_state',
    'Of each source, the state that it is in.',
    sources.map(({ source, state }) => one(1, { source, state })),
  )
  add(
    'gauge',
    'source_time_seconds',
    'When it happens, or happened, in seconds since the Unix epoch.',
    sources.flatMap(({ source, times = {} }) =>
      Object.entries(times).map(([name, ms]) => one(ms / 1000, { source, what: snakeCase(name) })),
    ),
  )
  add(
    'gauge',
    'source_counted',
    'Counts of a source since it began to run.',
    sources.flatMap(({ source, counts = {} }) =>
      Object.entries(counts).map(([name, count]) => one(count, { source, what: snakeCase(name) })),
    ),
  )
}

function exposeCluster(add: AddMetric, { nodes, database }: GatewayStatus): void {
  add(
    'gauge',
    'nodes',
    'Processes that share the store and are alive.',
    ['all', 'ingress'].map((role) => one(nodes.filter((node) => node.role === role).length, { role })),
  )
  const digests = new Set(nodes.flatMap(({ sharedDigest = [] }) => sharedDigest))
  add('gauge', 'node_configurations', 'Number of different configurations in use.', [one(digests.size)])
  const ageMs = database?.oldestTransaction?.ageMs ?? 0
  add(
    'gauge',
    'database_oldest_transaction_seconds',
    'The age of the oldest transaction that keeps the database from removing dead rows; 0 without one.',
    database === null ? [] : [one(ageMs / 1000)],
  )
}

/** Writes `lastMail` as `last_mail`, as the names of metrics are written. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
