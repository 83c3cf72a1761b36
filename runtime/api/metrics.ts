/**
 * Writes `GET /metrics` in the text format of Prometheus. All metrics come from the status, which is read when it is asked for, so
 * that a gateway that is not scraped counts nothing. https://prometheus.io/docs/practices/naming/
 */

import type { Gauge } from 'prom-client'
import type { AdminOptions } from './options.ts'
import { type GatewayStatus, readStatus } from './status.ts'

export async function exposeMetrics(options: AdminOptions) {
  // Most gateways are not scraped, so the library is loaded with the first request.
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  const gauge: MakeGauge = (name, help, labels = []) =>
    new prometheus.Gauge({ name: `reveille_${name}`, help, labelNames: [...labels], registers: [registry] })
  const status = await readStatus(options)
  const { generation } = options.current()
  gauge('generation', 'What is live.').set(generation)
  gauge('log_lines_dropped', 'Log lines that nothing took since the gateway started.').set(
    status.log.droppedLines,
  )
  exposeWork(gauge, status)
  exposeChannels(gauge, status)
  exposeSources(gauge, status)
  return { contentType: registry.contentType, text: await registry.metrics() }
}

type MakeGauge = (name: string, help: string, labels?: readonly string[]) => Gauge

function exposeWork(gauge: MakeGauge, { backlog, budgets, heartbeat }: GatewayStatus): void {
  gauge('backlog', 'Queued runs and unsent deliveries.').set(backlog.waiting)
  gauge('backlog_limit', 'How many of them there may be.').set(backlog.limit)
  gauge('heartbeat_failures', 'Turns of the main session in a row that failed.').set(heartbeat.failures)
  const used = gauge('budget_used', 'Spent today (UTC).', ['budget', 'of'])
  const most = gauge('budget_limit', 'What may be spent in a day (UTC).', ['budget', 'of'])
  for (const { key, limit, runs, tokens } of budgets) {
    for (const [of, spent] of Object.entries({ runs, tokens })) {
      used.set({ budget: key, of }, spent)
      const bound = limit[of as 'runs' | 'tokens']
      if (bound !== undefined) most.set({ budget: key, of }, bound)
    }
  }
}

function exposeChannels(gauge: MakeGauge, { channels }: GatewayStatus): void {
  const state = gauge('channel_state', 'Of each channel, the state that it is in.', ['channel', 'state'])
  const deliveries = gauge('deliveries', 'Deliveries that wait or are parked.', ['channel', 'state'])
  for (const each of channels) {
    const { channel } = each
    state.set({ channel, state: each.state }, 1)
    for (const [name, count] of Object.entries({ pending: each.pending, parked: each.parked }))
      deliveries.set({ channel, state: name }, count)
  }
}

function exposeSources(gauge: MakeGauge, { sources }: GatewayStatus): void {
  const state = gauge('source_state', 'Of each source, the state that it is in.', ['source', 'state'])
  const times = gauge(
    'source_time_seconds',
    'When it happens, or happened, in seconds since the Unix epoch.',
    ['source', 'what'],
  )
  const counts = gauge('source_counted', 'What a source has counted since it began to run.', [
    'source',
    'what',
  ])
  for (const { source, state: now, times: at = {}, counts: counted = {} } of sources) {
    state.set({ source, state: now }, 1)
    for (const [name, ms] of Object.entries(at)) times.set({ source, what: snakeCase(name) }, ms / 1000)
    for (const [name, count] of Object.entries(counted)) counts.set({ source, what: snakeCase(name) }, count)
  }
}

/** Writes `watchEnds` as `watch_ends`, as the names of metrics are written. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
