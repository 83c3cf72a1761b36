/** Tests an admin's orders about runs, and the view of runs in progress, on a whole gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  gatewayToken,
  hookToken,
  type Installation,
  install,
  rehearsalPlugin,
  until,
} from '../../test/installation.ts'
import { goFile } from '../../test/rehearsal-plugin/runners.ts'
import type { EventRecord, Page, RunRecord, SessionMessage, SessionSummary } from '../store/port.ts'

const deaf = { deliver: false, wakeMode: 'next-heartbeat' }

type Shown = RunRecord & {
  readonly timings: { queuedMs?: number; runMs?: number; totalMs?: number }
  readonly progress?: { characters: number; at: number }
  readonly summary: EventRecord | null
}

function configured(agents: string, runner = 'patient'): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents: { runners: { ${runner}: { kind: ${runner}, folder: "{folder}" } }, ${agents} }
`
}

/** Its runner gets a turn and does not answer. */
async function openBusy(t: TestContext): Promise<Installation & { runId: string }> {
  const opened = await install(t, {
    'reveille.yaml': configured('defaults: { runner: patient, concurrency: 1 }'),
  })
  const { body } = await opened.post('/hooks/agent', { message: 'one', sessionKey: 'hook:one', ...deaf })
  await inState(opened, body['runId'], 'running')
  return { ...opened, runId: String(body['runId']) }
}

function inState({ read }: Installation, id: unknown, state: string): Promise<Shown> {
  return until(async () => {
    const run = await read<Shown>(`/api/runs/${id}`)
    return run.state === state ? run : undefined
  }, `a run that is ${state}`)
}

test('a running run shows its progress, and one that has ended how long each part took', async (t) => {
  const opened = await openBusy(t)
  const running = await until(async () => {
    const run = await opened.read<Shown>(`/api/runs/${opened.runId}`)
    return run.progress && run
  }, 'its progress')
  assert.deepEqual(Object.keys(running.timings), ['queuedMs'])
  assert.equal(running.attempts.length, 1)
  await opened.write(goFile, '*\n')
  const ended = (await opened.ended(opened.runId)) as Shown
  assert.equal(ended.progress, undefined)
  const { queuedMs = -1, runMs = -1, totalMs = -1 } = ended.timings
  assert.equal(queuedMs, Number(ended.startedAt) - ended.createdAt)
  assert.equal(runMs, Number(ended.ranAt) - Number(ended.startedAt))
  assert.equal(totalMs, Number(ended.deliveredAt) - ended.createdAt)
})

test('a running run is cancelled: its turn is stopped, it is summarised as an error, and its session goes on', async (t) => {
  const opened = await openBusy(t)
  const { ask, runId, read, write, post } = opened
  const next = await post('/hooks/agent', { message: 'two', sessionKey: 'hook:one', ...deaf })
  const { status, body } = await ask(`/api/runs/${runId.toUpperCase()}/cancel`, { method: 'POST' })
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, { ok: true, runId })
  const run = (await opened.ended(runId)) as Shown
  assert.deepEqual([run.state, run.error?.code, run.attempts.length], ['cancelled', 'CANCELLED', 1])
  assert.match(run.summary?.text ?? '', /^Hook \(error\): /)
  await inState(opened, next.body['runId'], 'running')
  await write(goFile, '*\n')
  assert.equal((await opened.ended(next.body['runId'])).state, 'succeeded')

  const again = await ask(`/api/runs/${runId}/cancel`, { method: 'POST' })
  assert.deepEqual([again.status, again.body['code']], [409, 'WRONG_STATE'])
  assert.match(String(again.body['error']), /^The run cannot be cancelled: .*cancelled\.$/)
  assert.deepEqual(await read<object>(`/api/runs/${runId}`), run, 'nothing has changed')
  const line = await opened.line('run-cancel-asked')
  assert.deepEqual([line['runId'], line['by']], [runId, 'owner'])
})

test('a queued run is cancelled at once, and a sender that waits for it is answered', async (t) => {
  const opened = await openBusy(t)
  const waiting = opened.post(
    '/hooks/agent',
    { message: 'two', sessionKey: 'hook:two', ...deaf },
    { prefer: 'wait=60' },
  )
  const { items } = await until(async () => {
    const page = await opened.read<Page<RunRecord>>('/api/runs?state=queued')
    return page.items.length > 0 ? page : undefined
  }, 'the queued run')
  const id = items[0]?.id
  const cancelled = await opened.ask(`/api/runs/${id}/cancel`, { method: 'POST' })
  assert.deepEqual(cancelled.body, { ok: true, runId: id, state: 'cancelled', stage: 'cancelled' })
  const { status, body } = await waiting
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, { runId: id, state: 'cancelled', error: { code: 'CANCELLED' } })
})

test('a run that a budget has parked is performed once it is resumed, and only then', async (t) => {
  const agents = (runs: number) => configured(`defaults: { runner: echo }, budget: { runs: ${runs} }`)
  const opened = await install(t, { 'reveille.yaml': agents(1) })
  const { ask, post, read, write, gateway } = opened
  const first = await post('/hooks/agent', { message: 'one', ...deaf })
  await opened.ended(first.body['runId'])
  const { body } = await post('/hooks/agent', { message: 'two', ...deaf })
  const parked = await inState(opened, body['runId'], 'parked')
  assert.deepEqual([parked.stage, parked.error?.code], ['accepted', 'BUDGET'])
  const { items } = await read<Page<RunRecord>>('/api/runs?state=parked')
  assert.deepEqual(
    items.map(({ id }) => id),
    [parked.id],
  )
  const path = `/api/runs/${first.body['runId']}/resume`
  const ended = await ask(path, { method: 'POST' })
  assert.deepEqual([ended.status, ended.body['code']], [409, 'WRONG_STATE'])

  const early = await ask(`/api/runs/${parked.id}/resume`, { method: 'POST' })
  assert.deepEqual([early.status, early.body['code']], [409, 'WRONG_STATE'])
  assert.match(
    String(early.body['error']),
    /^The run cannot be resumed: agents\.budget is spent for \S+ \(UTC\), so it would be parked again; raise it/,
  )
  assert.equal((await inState(opened, parked.id, 'parked')).error?.code, 'BUDGET')
  const resumeAll = async (code: string) => {
    const { body } = await ask('/api/runs/resume', { method: 'POST', payload: JSON.stringify({ code }) })
    return { ...body, refused: (body['refused'] as { id: string }[]).map(({ id }) => id) }
  }
  assert.deepEqual(await resumeAll('BUDGET'), { ok: true, done: 0, refused: [parked.id] })
  assert.deepEqual(
    await resumeAll('LOOP'),
    { ok: true, done: 0, refused: [] },
    'it is parked for another cause',
  )

  await write('reveille.yaml', agents(10))
  await gateway.reload()
  assert.equal(
    (await inState(opened, parked.id, 'parked')).state,
    'parked',
    'a larger budget alone moves nothing',
  )
  assert.deepEqual(await resumeAll('BUDGET'), { ok: true, done: 1, refused: [] })
  const run = await opened.ended(parked.id)
  assert.deepEqual([run.state, run.error], ['succeeded', undefined])
  assert.equal((await opened.line('run-resume-asked'))['runId'], parked.id)
})

test('a run of a waiting burst shows how many requests it holds, and each request names the run', async (t) => {
  const mapping = `mappings:
  - id: pushed
    match: { path: github }
    coalesce: { key: "{{ref}}", window: 60s, maxWait: 10m }
    message: "A push to {{ref}}"
    deliver: false
    wakeMode: next-heartbeat
`
  const { post, read, ask } = await install(t, { 'mappings/github.yaml': mapping })
  const answers = []
  for (const ref of ['main', 'main', 'next', 'main'])
    answers.push((await post('/hooks/github', { ref })).body)
  const [first, second, other, fourth] = answers
  assert.deepEqual(
    [first?.['coalesced'], second?.['coalesced'], fourth?.['coalesced']],
    [undefined, true, true],
  )
  assert.deepEqual([second?.['runId'], fourth?.['runId']], [first?.['runId'], first?.['runId']])
  assert.notEqual(other?.['runId'], first?.['runId'])
  assert.equal(second?.['sessionKey'], first?.['sessionKey'])
  const run = await read<Shown>(`/api/runs/${first?.['runId']}`)
  const requestIds = [first, second, fourth].map((answer) => answer?.['requestId'])
  assert.deepEqual([run.state, run.coalesce?.count, run.coalesce?.requestIds], ['queued', 3, requestIds])
  const request = await read<{ outcome: string; actions: object[] }>(`/api/requests/${fourth?.['requestId']}`)
  assert.deepEqual(
    [request.outcome, request.actions],
    ['accepted', [{ kind: 'agent', id: first?.['runId'] }]],
  )
  const cancelled = await ask(`/api/runs/${run.id}/cancel`, { method: 'POST' })
  assert.equal(cancelled.body['state'], 'cancelled')
})

test('a run that meets a busy session is on record as cancelled', async (t) => {
  const mapping = `mappings:
  - id: asked
    match: { path: github }
    busy: reject
    sessionKey: "hook:asked"
    message: "Look at it"
    deliver: false
    wakeMode: next-heartbeat
`
  const opened = await install(t, {
    'reveille.yaml': configured('defaults: { runner: patient }'),
    'mappings/github.yaml': mapping,
  })
  const first = await opened.post('/hooks/github', {})
  await inState(opened, first.body['runId'], 'running')
  const { status, body } = await opened.post('/hooks/github', {})
  assert.equal(status, 202)
  assert.partialDeepStrictEqual(body, {
    ok: true,
    state: 'cancelled',
    code: 'BUSY',
    sessionKey: 'hook:asked',
  })
  const run = await opened.read<Shown>(`/api/runs/${body['runId']}`)
  assert.deepEqual(
    [run.state, run.stage, run.error?.code, run.summary],
    ['cancelled', 'cancelled', 'BUSY', null],
  )
})

test('sessions are listed by their last turn, and one is read with its messages', async (t) => {
  const { post, ended, read, ask } = await install(t, {})
  for (const sessionKey of ['hook:a', 'hook:b', 'hook:a']) {
    const { body } = await post('/hooks/agent', { message: `to ${sessionKey}`, sessionKey, ...deaf })
    await ended(body['runId'])
  }
  const { items } = await read<Page<SessionSummary>>('/api/sessions')
  const hooks = items.filter(({ key }) => key !== 'main')
  assert.deepEqual(
    hooks.map(({ key, turns }) => [key, turns]),
    [
      ['hook:a', 2],
      ['hook:b', 1],
    ],
  )
  const first = await read<Page<SessionSummary>>('/api/sessions?limit=1')
  assert.equal(first.items.length, 1)
  assert.equal(typeof first.next, 'string')
  const { messages } = await read<{ messages: SessionMessage[] }>('/api/sessions/hook:a')
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
  assert.equal((await ask('/api/sessions?state=x')).status, 400)
})

test('the status shows the rest of today’s budgets, by the key that sets each', async (t) => {
  const { read, post, ended } = await install(t, {
    'reveille.yaml': `${configured('budget: { tokens: 1000 }')}`,
    'mappings/paid.yaml': `endpoints: { paid: { budget: { runs: 1 } }, free: { concurrency: 1 } }
mappings:
  - { match: { path: paid }, message: hi, deliver: false, wakeMode: next-heartbeat }
  - { match: { path: free }, message: hi, deliver: false, wakeMode: next-heartbeat }
`,
  })
  for (const endpoint of ['paid', 'free']) {
    const { body } = await post(`/hooks/${endpoint}`, {})
    await ended(body['runId'])
  }
  const { budgets } = await read<{ budgets: unknown[] }>('/api/status')
  assert.deepEqual(budgets, [
    { key: 'agents.budget', limit: { tokens: 1000 }, runs: 2, tokens: 0, usd: 0, isSpent: false },
    { key: 'endpoints.paid.budget', limit: { runs: 1 }, runs: 1, tokens: 0, usd: 0, isSpent: true },
  ])
})
