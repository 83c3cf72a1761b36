import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { configuration, gatewayToken, hookToken, install } from '../../test/installation.ts'
import { createCounters } from '../observe/counters.ts'
import { exposeMetrics } from './metrics.ts'

test('the metrics are in the text format of Prometheus, and need the gateway token', async (t) => {
  const { ask, post } = await install(t, {
    'reveille.yaml': configuration.replace('agents: {', 'agents: { budget: { runs: 9 },'),
  })
  assert.equal((await post('/hooks/agent', { message: 'hello', deliver: false })).status, 202)
  const { status, headers, text } = await ask('/metrics')
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  for (const line of [
    /^reveille_generation 1$/m,
    /^reveille_backlog [01]$/m,
    /^reveille_backlog_limit 1000000$/m,
    /^reveille_budget_limit\{budget="agents\.budget",of="runs"\} 9$/m,
    /^reveille_channel_state\{channel="board",state="open"\} 1$/m,
    /^# HELP reveille_source_state /m,
    /^reveille_log_lines_dropped 0$/m,
    /^reveille_log_lines_dropped_total 0$/m,
    /^reveille_ready 1$/m,
    /^reveille_files_refused 0$/m,
    /^reveille_build_info\{version="[^"]+",node="v\d+\.[^"]+"\} 1$/m,
    /^reveille_requests_total\{endpoint="agent",outcome="accepted",status="202"\} 1$/m,
    /^reveille_accept_duration_seconds_bucket\{le="\+Inf"\} 1$/m,
    /^reveille_accept_duration_seconds_count 1$/m,
    /^reveille_commit_duration_seconds_sum 0\.\d+$/m,
    /^reveille_runs\{state="parked"\} 0$/m,
    /^reveille_runs_ended_total\{kind="run",state="timed-out"\} 0$/m,
    /^reveille_reloads_total\{result="refused"\} 0$/m,
    /^reveille_event_loop_delay_seconds\{quantile="0\.99"\} \d/m,
    /^# TYPE reveille_requests_total counter$/m,
    /^# TYPE reveille_accept_duration_seconds histogram$/m,
  ])
    assert.match(text, line)
  for (const token of [gatewayToken, hookToken]) assert.ok(!text.includes(token))
})

test('without the token, and by another method, there are no metrics', async (t) => {
  const { ask } = await install(t, {})
  const wrong: Record<string, string>[] = [{}, { authorization: `Bearer ${hookToken}` }]
  for (const headers of wrong) {
    const { status, body } = await ask('/metrics', { headers })
    assert.deepEqual([status, body['code']], [401, 'UNAUTHORIZED'])
  }
  assert.equal((await ask('/metrics', { method: 'POST', payload: '{}' })).status, 405)
  const open = await install(t, { 'reveille.yaml': configuration.replace(/, auth: \{[^}]*\}/, '') })
  assert.equal((await open.ask('/metrics')).status, 404)
})

test('the metrics of a source are its state, its times in seconds and its counts, and those of a cluster its nodes', async () => {
  const parts = {
    current: () => ({
      generation: 7,
      snapshot: { settings: { agents: {}, hooks: {}, gateway: { limits: { backlog: 5 } } }, endpoints: {} },
    }),
    store: {
      read: {
        spent: async () => ({ day: '2026-01-31', all: undefined, budgets: {} }),
        openDeliveries: async () => [],
        issues: async () => ({ items: [{ code: 'LOOP', severity: 'degraded', state: 'open' }] }),
        openRuns: async () => ({ queued: 0, running: 0, parked: 0 }),
      },
      health: () => ({ backlog: 2 }),
      cluster: {
        nodes: async () => [
          { role: 'all', digest: 'abc', sharedDigest: 'abc' },
          { role: 'all', digest: 'abd', sharedDigest: 'abd' },
          { role: 'ingress', digest: 'abc', sharedDigest: 'abc' },
        ],
        database: async () => ({ version: '18.4', oldestTransaction: { ageMs: 90_500, by: 'psql' } }),
      },
    },
    issues: { list: async () => ({ items: [] }) },
    dispatch: { heartbeat: () => ({ failures: 0 }), channels: () => [] },
    files: () => ({ watched: true, readAt: 0 }),
    lastGood: () => undefined,
    publicUrl: () => undefined,
    droppedLogLines: () => 0,
    isDraining: () => false,
    counters: createCounters({ now: () => 0, backlog: () => 0 }),
    sources: () => [
      {
        source: 'gmail',
        state: 'working',
        detail: '',
        since: 0,
        times: { lastMail: 1_795_950_106_500 },
        counts: { posted: 12 },
      },
    ],
  }
  const text = await exposeMetrics(parts as never)
  assert.match(text, /^reveille_generation 7$/m)
  assert.match(text, /^reveille_nodes\{role="all"\} 2\nreveille_nodes\{role="ingress"\} 1$/m)
  assert.match(text, /^reveille_node_configurations 2$/m)
  assert.match(text, /^reveille_database_oldest_transaction_seconds 90\.5$/m)
  assert.match(text, /^reveille_issues\{code="LOOP",severity="degraded",state="open"\} 2$/m)
  assert.match(text, /^reveille_source_state\{source="gmail",state="working"\} 1$/m)
  assert.match(text, /^reveille_source_time_seconds\{source="gmail",what="last_mail"\} 1795950106\.5$/m)
  assert.match(text, /^reveille_source_counted\{source="gmail",what="posted"\} 12$/m)
})

test('the token of the metrics opens them and the details of readiness, and nothing else', async (t) => {
  const [token, old] = ['test-metrics-token-0123456789abc', 'test-metrics-token-before-rotation']
  const { ask } = await install(t, {
    'reveille.yaml': configuration.replace(
      'gateway: {',
      `gateway: { metrics: { token: [${token}, ${old}] },`,
    ),
  })
  for (const headers of [{ authorization: `Bearer ${token}` }, { authorization: `Bearer ${old}` }]) {
    assert.equal((await ask('/metrics', { headers })).status, 200)
    const { status, body } = await ask('/readyz', { headers })
    assert.equal(status, 200)
    assert.partialDeepStrictEqual(body, { ok: true, details: { writable: true, backlog: 0 } })
    for (const path of ['/api/status', '/api/nowhere', '/api/stream'])
      assert.equal((await ask(path, { headers })).status, 401, path)
    const signIn = { method: 'POST', headers: {}, payload: JSON.stringify({ token }) } as const
    assert.equal((await ask('/api/session', signIn)).status, 401)
  }
  assert.equal((await ask('/metrics')).status, 200, 'so does the gateway token')
  const others: Record<string, string>[] = [{}, { authorization: 'Bearer wrong' }]
  for (const headers of others) assert.deepEqual((await ask('/readyz', { headers })).body, { ok: true })
})

test('metrics with a token of their own are there without an admin', async (t) => {
  const token = 'test-metrics-token-0123456789abc'
  const { ask } = await install(t, {
    'reveille.yaml': configuration.replace(/auth: \{[^}]*\}/, `metrics: { token: ${token} }`),
  })
  assert.equal((await ask('/metrics', { headers: { authorization: `Bearer ${token}` } })).status, 200)
  assert.equal((await ask('/metrics', { headers: {} })).status, 401)
  assert.equal((await ask('/api/status', { headers: { authorization: `Bearer ${token}` } })).status, 404)
})

test('the reference lists every metric, and no other', async (t) => {
  const { ask } = await install(t, {})
  const { text } = await ask('/metrics')
  const page = await readFile(new URL('../../docs/reference/api.md', import.meta.url), 'utf8')
  const table = page.split('<!-- metrics:start -->')[1]?.split('<!-- metrics:end -->')[0] ?? ''
  const documented = [...table.matchAll(/`(reveille_\w+)/g)].map(([, name]) => name)
  const exposed = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(documented.toSorted(), exposed.toSorted())
})
