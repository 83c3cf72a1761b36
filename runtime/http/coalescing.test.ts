/** How runs join others or are rejected: the coalesce key, the pool, and what the sender is replied. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action, AgentAction } from '@reveille/engine'
import { agent, openSurface, wake } from './surface-fixture.ts'

const run = agent as AgentAction
const coalesce = { key: 'main', windowMs: 10_000, maxWaitMs: 60_000, keep: 'all', maxRunsPerHour: 7 } as const
const pending = '019c5b1e-0000-7000-8000-0000000000aa'

function accepting(...actions: Action[]) {
  return { resolve: () => ({ outcome: 'accepted', actions }) as const }
}

test('a run with a coalesce key waits for more of its endpoint, mapping and session', async (t) => {
  const action = { ...run, mapping: 'pushed', coalesce, sessionKey: 'hook:push' }
  const { post, entries, state } = await openSurface(t, accepting(action))
  await post('github', {})
  const key = JSON.stringify(['github', 'pushed', 'hook:push', 'main'])
  const dueAt = state.now + 10_000
  const [given] = entries[0]?.actions ?? []
  assert.partialDeepStrictEqual(given, {
    type: 'run',
    join: { key, dueAt, keep: 'all' },
    record: { coalesce: { key, keep: 'all', deadline: state.now + 60_000, maxPerHour: 7 } },
    tasks: [{ dueAt, lane: 'session:hook:push' }],
  })
})

test('a generated session key does not keep runs from joining, and no run waits beyond its deadline', async (t) => {
  const short = { ...coalesce, maxWaitMs: 2000 }
  const action = {
    ...run,
    mapping: 'pushed',
    coalesce: short,
    sessionKeyGiven: false,
    sessionKey: `hook:${pending}`,
  }
  const { post, entries, state } = await openSurface(t, accepting(action))
  await post('github', {})
  const [given] = entries[0]?.actions ?? []
  assert.partialDeepStrictEqual(given, {
    join: { key: JSON.stringify(['github', 'pushed', '', 'main']), dueAt: state.now + 2000 },
    tasks: [{ dueAt: state.now + 2000 }],
  })
})

test('a request that became part of a waiting run is answered with that run, and with its session', async (t) => {
  const made = {
    ...run,
    coalesce,
    sessionKeyGiven: false,
    sessionKey: 'hook:019c5b1e-0000-7000-8000-0000000000bb',
  }
  const given = { ...run, coalesce }
  for (const [action, sessionKey] of [
    [made, `hook:${pending}`],
    [given, given.sessionKey],
  ] as const) {
    const { post, state, entries, lines } = await openSurface(t, accepting(action))
    state.acceptance = { actions: [{ outcome: 'joined', id: pending }] }
    const { status, body } = await post('github', {})
    assert.equal(status, 202)
    const requestId = entries[0]?.request.id
    assert.deepEqual(body, { ok: true, runId: pending, sessionKey, requestId, coalesced: true })
    const line = await lines.line('request-accepted')
    assert.deepEqual(line['actions'], [{ kind: 'agent', id: pending, became: 'joined' }])
  }
})

test('a run that met a busy session is answered as cancelled', async (t) => {
  const { post, state, entries } = await openSurface(t, accepting({ ...run, busy: 'reject' }))
  state.accept = async ({ actions: [action] }) => {
    state.acceptance = { actions: [{ outcome: 'busy', id: action?.record.id ?? '' }] }
  }
  const { status, body } = await post('github', {})
  const [given] = entries[0]?.actions ?? []
  assert.equal(status, 202)
  assert.deepEqual(body, {
    ok: true,
    runId: given?.record.id,
    sessionKey: run.sessionKey,
    requestId: entries[0]?.request.id,
    state: 'cancelled',
    code: 'BUSY',
  })
  assert.equal(given?.type === 'run' && given.busy, 'reject')
  assert.equal(given?.type === 'run' && given.join, undefined)
})

test('among several actions each says what became of it', async (t) => {
  const { post, state, entries } = await openSurface(
    t,
    accepting(wake, { ...run, coalesce }, { ...run, busy: 'reject' }, run),
  )
  state.accept = async ({ actions }) => {
    const [event = '', , busy = '', plain = ''] = actions.map(({ record }) => record.id)
    state.acceptance = {
      actions: [
        { outcome: 'accepted', id: event },
        { outcome: 'joined', id: pending },
        { outcome: 'busy', id: busy },
        { outcome: 'accepted', id: plain },
      ],
    }
  }
  const { body } = await post('github', {})
  const [event, , busy, plain] = (entries[0]?.actions ?? []).map(({ record }) => record.id)
  const { sessionKey } = run
  assert.deepEqual(body['actions'], [
    { kind: 'wake', mode: 'next-heartbeat', eventId: event },
    { kind: 'agent', runId: pending, sessionKey, coalesced: true },
    { kind: 'agent', runId: busy, sessionKey, state: 'cancelled', code: 'BUSY' },
    { kind: 'agent', runId: plain, sessionKey },
  ])
})

test('a run carries the names of the policies that limit it', async (t) => {
  const { post, entries } = await openSurface(t, accepting({ ...run, pool: 'github', budget: 'all' }))
  await post('github', {})
  assert.partialDeepStrictEqual(entries[0]?.actions[0], {
    record: { pool: 'github', budget: 'all' },
    tasks: [{ pool: 'github', dueAt: entries[0]?.actions[0]?.record.createdAt }],
  })
})

test('an event waits for the next heartbeat, unless the main session lives elsewhere', async (t) => {
  const answers = { relays: false }
  const { post, entries } = await openSurface(t, { ...accepting(wake), relaysEvents: () => answers.relays })
  await post('wake', { text: 'x' })
  answers.relays = true
  await post('wake', { text: 'x' })
  assert.deepEqual(
    entries.map(({ actions }) => actions[0]?.tasks.map(({ key }) => key)),
    [[], ['heartbeat:main']],
  )
})
