/**
 * Writes `GET /metrics` in the text format of Prometheus. What happens is counted in plain numbers (`observe/counters.ts`), and everything else
 * comes from the status and the store; both become metrics when they are asked for. https://prometheus.io/docs/practices/naming/
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { boundsMs } from '../observe/histogram.ts'
import { packageVersion } from '../package-folder.ts'
import type { AdminOptions } from './options.ts'
import { readinessOf } from './probes.ts'
import { type GatewayStatus, readStatus } from './status.ts'

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

export async function exposeMetrics(options: AdminOptions): Promise<string> {
  const { read } = options.store
  const [status, ...issues] = await Promise.all([
    readStatus(options),
    read.issues({ state: 'open', limit: maxIssues }),
    read.issues({ state: 'muted', limit: maxIssues }),
  ])
  const unsolved = issues.flatMap(({ items }) =>
    items.map(({ code, severity, state }) => JSON.stringify({ code, severity, state })),
  )
  const metrics = [
    ...ofProcess(options, status),
    ...ofRequests(options),
    ...ofRuns(options, status),
    ...ofWork(status),
    ...ofChannels(options, status),
    ...ofSources(status),
    ...ofCluster(status),
    gauge(
      'issues',
      'Problems that are open or muted, as `reveille issues` lists them.',
      [...new Set(unsolved)].map((key) =>
        one(unsolved.filter((each) => each === key).length, JSON.parse(key)),
      ),
    ),
  ]
  return `${metrics.join('\n\n')}\n`
}

/** Of each state. There are a few dozen kinds of issues. */
const maxIssues = 500

/** One line of a metric. */
interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
  /** What follows the metric's name. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
}

const gauge = metric('gauge')
const counter = metric('counter')

/** Makes a metric of values; a number is one without labels. */
function metric(type: 'gauge' | 'counter' | 'histogram' | 'summary') {
  return (shortName: string, help: string, values: readonly Value[] | number): string => {
    const name = `reveille_${shortName}`
    const lines = (typeof values === 'number' ? [one(values)] : values).map(
      ({ suffix = '', labels, value }) => {
        const written = Object.entries(labels).map(
          ([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`,
        )
        return `${name}${suffix}${written.length > 0 ? `{${written.join(',')}}` : ''} ${value}`
      },
    )
    return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function one(value: number, labels: Value['labels'] = {}): Value {
  return { value, labels }
}

/** The labels of what was counted. Each of the wanted ones has a line, so that an alert finds a 0 where nothing has happened. */
function counted(
  cells: readonly { readonly labels: Value['labels']; readonly count: number }[],
  wanted: readonly Value['labels'][] = [],
): Value[] {
  const has = (labels: Value['labels']) =>
    cells.some((cell) => Object.entries(labels).every(([name, value]) => cell.labels[name] === value))
  const missing = wanted.filter((labels) => !has(labels)).map((labels) => ({ labels, count: 0 }))
  return [...cells, ...missing].map(({ labels, count }) => one(count, labels))
}

function ofProcess(options: AdminOptions, status: GatewayStatus): string[] {
  const { areFilesRefused, reloads, oldTokens } = options.counters.read()
  const { droppedLines } = status.log
  const isReady = readinessOf(options.store, options.isDraining()) === undefined
  const results = ['applied', 'refused', 'unchanged'].map((result) => ({ result }))
  const delay = readEventLoopDelay()
  return [
    gauge('build_info', 'Always 1; the labels say what runs.', [
      one(1, { version: packageVersion(), node: process.version }),
    ]),
    gauge('ready', '1 if requests are accepted, as `/readyz` says; otherwise 0.', isReady ? 1 : 0),
    gauge('generation', 'Number of the live generation.', options.current().generation),
    counter(
      'reloads_total',
      'Changes of the files that were noticed, by what became of them.',
      counted(reloads, results),
    ),
    gauge(
      'files_refused',
      '1 if the current files were refused and an earlier generation is live; otherwise 0.',
      areFilesRefused || status.lastGood !== null ? 1 : 0,
    ),
    counter(
      'old_token_requests_total',
      'Requests with a token or secret that is not the newest of its list.',
      counted(oldTokens),
    ),
    gauge('log_lines_dropped', 'Log lines that nothing took since the gateway started.', droppedLines),
    counter('log_lines_dropped_total', 'Log lines that nothing took.', droppedLines),
    metric('summary')(
      'event_loop_delay_seconds',
      'How late the main thread was since the last scrape.',
      [0.5, 0.99, 1].map((share) => one(delay(share), { quantile: String(share) })),
    ),
  ]
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

function ofRequests({ counters }: AdminOptions): string[] {
  const { requests, acceptMs, commitMs } = counters.read()
  return [
    counter(
      'requests_total',
      'Requests to hooks, by what became of them; endpoints that no policy and no mapping names are `other`.',
      counted(requests),
    ),
    histogram('accept_duration_seconds', 'From the head of an accepted request to its reply.', acceptMs),
    histogram('commit_duration_seconds', 'Of that, from the decision to the reply: the commit.', commitMs),
  ]
}

interface Durations {
  readonly counts: readonly number[]
  readonly sumMs: number
  readonly count: number
}

function histogram(name: string, help: string, { counts, sumMs, count }: Durations): string {
  let sum = 0
  const buckets = boundsMs.map((bound, index): Value => {
    sum += counts[index] ?? 0
    return { value: sum, labels: { le: String(bound / 1000) }, suffix: '_bucket' }
  })
  return metric('histogram')(name, help, [
    ...buckets,
    { value: count, labels: { le: '+Inf' }, suffix: '_bucket' },
    { value: sumMs / 1000, labels: {}, suffix: '_sum' },
    { value: count, labels: {}, suffix: '_count' },
  ])
}

const endStates = ['succeeded', 'failed', 'timed-out', 'cancelled', 'parked']

function ofRuns({ counters }: AdminOptions, status: GatewayStatus): string[] {
  const { runs, tokens, costs } = counters.read()
  const open = Object.entries(status.runs).map(([state, count]) => one(count, { state }))
  const ended = counted(
    runs,
    endStates.map((state) => ({ kind: 'run', state })),
  )
  return [
    gauge('runs', 'Runs that wait, are under way or are parked.', open),
    counter('runs_ended_total', 'Turns that ended, by their end; a parked one may be resumed.', ended),
    counter('tokens_total', 'Tokens of ended turns; cached input is part of the input.', counted(tokens)),
    counter('cost_usd_total', 'Cost of ended turns, as far as prices are known.', counted(costs)),
  ]
}

function ofWork({ backlog, budgets, heartbeat }: GatewayStatus): string[] {
  const used: Value[] = []
  const limits: Value[] = []
  for (const { key, limit, runs, tokens, usd } of budgets) {
    for (const [of, spent] of Object.entries({ runs, tokens, usd })) {
      used.push(one(spent, { budget: key, of }))
      const bound = limit[of as 'runs' | 'tokens' | 'usd']
      if (bound !== undefined) limits.push(one(bound, { budget: key, of }))
    }
  }
  return [
    gauge('backlog', 'Queued runs and unsent deliveries.', backlog.waiting),
    gauge('backlog_limit', 'Maximum number of them.', backlog.limit),
    gauge('heartbeat_failures', 'Turns of the main session in a row that failed.', heartbeat.failures),
    gauge('budget_used', 'Spent today (UTC).', used),
    gauge('budget_limit', 'Limit of spending in a day (UTC).', limits),
  ]
}

function ofChannels({ counters }: AdminOptions, { channels }: GatewayStatus): string[] {
  const states = channels.map(({ channel, state }) => one(1, { channel, state }))
  const open = channels.flatMap(({ channel, pending, parked }) => [
    one(pending, { channel, state: 'pending' }),
    one(parked, { channel, state: 'parked' }),
  ])
  const ended = counted(counters.read().deliveries)
  return [
    gauge('channel_state', 'Of each channel, the state that it is in.', states),
    gauge('deliveries', 'Deliveries that wait or are parked.', open),
    counter(
      'deliveries_ended_total',
      'Deliveries that ended, by their end; a parked one may be replayed.',
      ended,
    ),
  ]
}

function ofSources({ sources }: GatewayStatus): string[] {
  const states = sources.map(({ source, state }) => one(1, { source, state }))
  const times = sources.flatMap(({ source, times = {} }) =>
    Object.entries(times).map(([name, ms]) => one(ms / 1000, { source, what: snakeCase(name) })),
  )
  const counts = sources.flatMap(({ source, counts = {} }) =>
    Object.entries(counts).map(([name, count]) => one(count, { source, what: snakeCase(name) })),
  )
  return [
    gauge('source_state', 'Of each source, the state that it is in.', states),
    gauge('source_time_seconds', 'When it happens, or happened, in seconds since the Unix epoch.', times),
    gauge('source_counted', 'Counts of a source since it began to run.', counts),
  ]
}

function ofCluster({ nodes, database }: GatewayStatus): string[] {
  const digests = new Set(nodes.flatMap(({ sharedDigest = [] }) => sharedDigest))
  const ageMs = database?.oldestTransaction?.ageMs ?? 0
  return [
    gauge(
      'nodes',
      'Processes that share the store and are alive.',
      ['all', 'ingress'].map((role) => one(nodes.filter((node) => node.role === role).length, { role })),
    ),
    gauge('node_configurations', 'Number of different configurations in use.', digests.size),
    gauge(
      'database_oldest_transaction_seconds',
      'The age of the oldest transaction that keeps the database from removing dead rows; 0 without one.',
      database === null ? [] : ageMs / 1000,
    ),
  ]
}

/** Writes `lastMail` as `last_mail`, as the names of metrics are written. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
