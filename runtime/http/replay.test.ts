/** Tests how a stored request passes through the pipeline again. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action, AgentAction, Decision, HookRequest } from '@reveille/engine'
import type { Entry, RequestRecord } from '../store/port.ts'
import { createProvider, policyFor } from './auth/provider-fixture.ts'
import type { ReplayTerms } from './request-context.ts'
import { agent, openSurface, wake } from './surface-fixture.ts'

const id = '019bd0a0-0000-7000-8000-0000003f9a1c'
const original = '019bd0a0-0000-7000-8000-000000000001'
const own: ReplayTerms = { original, dedupe: 'own' }
const apart: ReplayTerms = { original, dedupe: 'apart' }

const record: RequestRecord & Required<Pick<RequestRecord, 'head'>> = {
  id: original,
  endpoint: 'github',
  generation: 1,
  outcome: 'failed',
  status: 500,
  client: '192.0.2.7',
  bodyBytes: 7,
  receivedAt: 0,
  timings: {},
  actions: [],
  head: {
    headers: { 'x-github-event': 'push', 'content-type': 'application/json' },
    query: { a: ['1', '2'] },
  },
}
const body = Buffer.from('{"n":1}')

const dedupe = { key: 'k', windowMs: 1000, isGiven: false }
const coalesce = { key: 'burst', windowMs: 10, maxWaitMs: 20, keep: 'latest', maxRunsPerHour: 5 } as const
const run = { ...(agent as AgentAction), dedupe, coalesce }

const accepting =
  (...actions: Action[]): (() => Decision) =>
  () => ({ outcome: 'accepted', actions })

test('a replay gives the engine the original request without a token, with the current time', async (t) => {
  const { replay, resolved, entries, state } = await openSurface(t)
  const replayed = await replay({ record, body, terms: own, requestId: id })
  const { endpoint, headers, query, payload, now, rawBody } = resolved[0] as HookRequest
  assert.deepEqual(
    { endpoint, headers: { ...headers }, query: { ...query }, payload, now, rawBody },
    { endpoint: 'github', ...record.head, payload: { n: 1 }, now: state.now, rawBody: body },
  )
  const [entry] = entries as [Entry]
  assert.equal(entry.request.replayOf, original)
  assert.equal(entry.request.id, id)
  assert.equal(entry.request.client, '192.0.2.7')
  assert.deepEqual(replayed, {
    outcome: 'accepted',
    status: 200,
    actions: [{ kind: 'wake', id: entry.actions[0]?.record.id }],
    isRecorded: true,
  })
})

test('a replay keeps the keys of its actions or counts apart, as its terms say', async (t) => {
  for (const [terms, key] of [
    [own, 'k'],
    [apart, undefined],
  ] as const) {
    const { replay, entries } = await openSurface(t, { resolve: accepting(run) })
    await replay({ record, body, terms, requestId: id })
    assert.equal(entries[0]?.actions[0]?.dedupe?.key, key)
  }
})

test('a replay whose reply is not delivered makes a run that is not coalesced, and its record says why', async (t) => {
  const undelivered = 'its reply is not delivered again: the reply of run 1 was delivered'
  const { replay, entries } = await openSurface(t, { resolve: accepting(run, wake) })
  const { reason } = await replay({ record, body, terms: { ...own, undelivered }, requestId: id })
  const [made] = entries[0]?.actions ?? []
  assert.ok(made?.type === 'run')
  assert.deepEqual([made.record.deliver, made.record.coalesce, made.join], [false, undefined, undefined])
  assert.deepEqual([reason, entries[0]?.request.reason], [undelivered, undelivered])

  const silent = await openSurface(t, { resolve: accepting({ ...run, deliver: false }) })
  assert.equal(
    (await silent.replay({ record, body, terms: { ...own, undelivered }, requestId: id })).reason,
    undefined,
  )
})

test('a replay that fails again is committed with its body before it is answered', async (t) => {
  const failure: Decision = {
    outcome: 'failed',
    code: 'TRANSFORM_FAILED',
    message: 'The transform failed.',
    details: [],
    mapping: 'orders',
  }
  const { replay, entries, noted, lines } = await openSurface(t, { resolve: () => failure })
  const replayed = await replay({ record, body, terms: own, requestId: id })
  assert.deepEqual(replayed, {
    outcome: 'failed',
    status: 500,
    code: 'TRANSFORM_FAILED',
    reason: 'The transform failed.',
    mapping: 'orders',
    actions: [],
    isRecorded: true,
  })
  const [entry] = entries as [Entry]
  assert.deepEqual([entry.actions, Buffer.from(entry.request.body ?? []), noted.length], [[], body, 0])
  assert.equal((await lines.line('request-failed'))['replayOf'], original)
})

test('a replay with a body that cannot be read, or that meets a fault of the gateway, has a record', async (t) => {
  const unread = await openSurface(t)
  const bad = { record: { ...record, endpoint: 'agent' }, body: Buffer.from('{'), terms: own, requestId: id }
  const { code, isRecorded } = await unread.replay(bad)
  assert.deepEqual(
    [code, isRecorded, unread.entries[0]?.request.code],
    ['INVALID_JSON', true, 'INVALID_JSON'],
  )
  const faulty = await openSurface(t, {
    resolve: () => {
      throw new Error('a fault')
    },
  })
  assert.equal((await faulty.replay({ record, body, terms: own, requestId: id })).code, 'INTERNAL')
  assert.deepEqual([faulty.entries[0]?.request.id, faulty.entries[0]?.request.code], [id, 'INTERNAL'])
})

test('a gateway that takes no requests records no replay', async (t) => {
  const full = await openSurface(t)
  full.state.full = true
  const draining = await openSurface(t)
  draining.draining.abort()
  const off = await openSurface(t, { hooks: { enabled: false } })
  for (const [{ replay, entries, noted }, endpoint, code] of [
    [full, 'github', 'BACKLOG'],
    [draining, 'github', 'DRAINING'],
    [off, 'github', 'NOT_FOUND'],
    [await openSurface(t), 'gone', 'NOT_FOUND'],
  ] as const) {
    const replayed = await replay({ record: { ...record, endpoint }, body, terms: own, requestId: id })
    assert.deepEqual([replayed.code, replayed.isRecorded, entries.length, noted.length], [code, false, 0, 0])
  }
})

test('a replay is counted by no rate, and needs neither token nor signature', async (t) => {
  const rate = {
    value: { client: { max: 1, windowMs: 1000 }, endpoint: { max: 1, windowMs: 1000 } },
    policy: 'x',
  }
  const policies = { github: { ...policyFor('github', createProvider(), 'both'), rate } }
  const { replay, entries } = await openSurface(t, { policies })
  for (let count = 0; count < 3; count += 1) await replay({ record, body, terms: apart, requestId: id })
  assert.equal(entries.length, 3)
})
