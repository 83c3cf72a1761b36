/** Tests the storage and answers of actions that are duplicates, join others or meet a busy session. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Action, Decision } from '@reveille/engine'
import type { Acceptance, Entry } from '../store/port.ts'
import { digestOfBody } from './body/read-body.ts'
import { agent, bearer, openSurface, wake } from './surface-fixture.ts'

const dedupe: NonNullable<Action['dedupe']> = { key: 'delivery-1', windowMs: 5000, isGiven: false }
const firstRequest = '019c5b1e-0000-7000-8000-0000000000aa'
const otherRequest = '019c5b1e-0000-7000-8000-0000000000ab'
const firstRun = '019c5b1e-0000-7000-8000-0000000000ba'
const firstEvent = '019c5b1e-0000-7000-8000-0000000000bb'

type Outcomes = Acceptance['actions']
const duplicate = (original: string, request = firstRequest): Outcomes[number] => ({
  outcome: 'duplicate',
  original,
  request,
})

/** A store that has seen these of the actions. */
async function open(t: Parameters<typeof openSurface>[0], actions: readonly Action[], seen: Outcomes = []) {
  const decision: Decision = { outcome: 'accepted', actions, mapping: actions[0]?.mapping }
  const surface = await openSurface(t, { resolve: () => decision })
  surface.state.acceptance = { actions: seen }
  return surface
}

function dedupesOf(entry: Entry | undefined) {
  return entry?.actions.map((action) => action.dedupe)
}

test('a dedupe key counts for its endpoint and mapping until it expires, and is kept with the digest of the body', async (t) => {
  const ofMapping = { ...agent, mapping: 'opened', dedupe }
  const given = { ...agent, dedupe: { ...dedupe, isGiven: true } }
  const { post, entries, state } = await open(t, [ofMapping, { ...wake, dedupe }, given, agent])
  const body = '{"message":"x"}'
  await post('a/b', body)
  const until = state.now + 5000
  const bodyDigest = createHash('sha256').update(body).digest('hex')
  assert.deepEqual(dedupesOf(entries[0]), [
    { scope: '["a/b","opened"]', key: 'delivery-1', until, bodyDigest },
    { scope: '["a/b",""]', key: 'delivery-1', until, bodyDigest },
    { scope: '["a/b",""]', key: 'delivery-1', until, bodyDigest, isGiven: true },
    undefined,
  ])
})

test('a long body has the same digest as if it were hashed at once', async () => {
  const body = Buffer.alloc(3 * 1024 * 1024 + 17, 'x')
  assert.equal(await digestOfBody(body), createHash('sha256').update(body).digest('hex'))
  assert.equal(await digestOfBody(Buffer.alloc(0)), createHash('sha256').digest('hex'))
})

test("a repeated request is answered 200 with the original's outcome", async (t) => {
  for (const [action, original, named] of [
    [agent, firstRun, { runId: firstRun }],
    [wake, firstEvent, { eventId: firstEvent }],
  ] as const) {
    const { post, noted, lines } = await open(t, [{ ...action, mapping: 'm', dedupe }], [duplicate(original)])
    const { status, body, headers } = await post('github', {})
    assert.equal(status, 200)
    assert.deepEqual(body, { ok: true, outcome: 'duplicate', requestId: firstRequest, ...named })
    assert.notEqual(headers['x-request-id'], firstRequest, 'it has an id of its own')
    assert.deepEqual(noted, [], 'the store has its record already')
    const line = await lines.line('request-duplicate')
    assert.deepEqual(
      [line['level'], line['outcome'], line['status'], line['mapping'], line['actions']],
      [
        'info',
        'duplicate',
        200,
        'm',
        [{ kind: action.kind, id: original, became: 'duplicate', request: firstRequest }],
      ],
    )
  }
})

test('a duplicate of several actions names each of them with its request', async (t) => {
  const seen = [duplicate(firstRun), duplicate(firstEvent, otherRequest)]
  const { post } = await open(
    t,
    [
      { ...agent, dedupe },
      { ...wake, dedupe },
    ],
    seen,
  )
  const { status, body } = await post('github', {})
  assert.equal(status, 200)
  assert.deepEqual(body, {
    ok: true,
    outcome: 'duplicate',
    requestId: firstRequest,
    actions: [
      { kind: 'agent', runId: firstRun, duplicate: true, requestId: firstRequest },
      { kind: 'wake', eventId: firstEvent, duplicate: true, requestId: otherRequest },
    ],
  })
})

test('a request with some new actions is accepted, and the others are shown as duplicates', async (t) => {
  const { post, entries, state, lines } = await open(t, [{ ...agent, dedupe }, agent])
  state.accept = async ({ actions }) => {
    const id = actions[1]?.record.id ?? ''
    state.acceptance = { actions: [duplicate(firstRun), { outcome: 'accepted', id }] }
  }
  const { status, body } = await post('github', {})
  const [entry] = entries
  assert.equal(status, 202)
  assert.deepEqual(body, {
    ok: true,
    requestId: entry?.request.id,
    actions: [
      { kind: 'agent', runId: firstRun, duplicate: true, requestId: firstRequest },
      { kind: 'agent', runId: entry?.actions[1]?.record.id, sessionKey: 'hook:"quoted"' },
    ],
  })
  assert.equal((await lines.line('request-accepted'))['status'], 202)
})

test('the same key with another body is a conflict that reveals nothing about the first', async (t) => {
  const seen = [{ outcome: 'conflict', original: firstRun, request: firstRequest }] as const
  const { post, noted, lines } = await open(t, [{ ...agent, dedupe: { ...dedupe, isGiven: true } }], seen)
  const { status, body, headers } = await post('agent', { message: 'x' }, { ...bearer, prefer: 'wait=20' })
  assert.equal(status, 409)
  assert.deepEqual(body, {
    ok: false,
    error: 'The idempotency key was already used with a different body.',
    code: 'IDEMPOTENCY_CONFLICT',
    requestId: headers['x-request-id'],
  })
  assert.deepEqual(noted, [], 'the store has its record already')
  const line = await lines.line('request-duplicate')
  assert.deepEqual([line['status'], line['code']], [409, 'IDEMPOTENCY_CONFLICT'])
})

test('among several actions each says what became of it', async (t) => {
  const waiting = {
    ...agent,
    coalesce: { key: 'k', windowMs: 10, maxWaitMs: 20, keep: 'all', maxRunsPerHour: 7 },
  }
  const { post, state, entries } = await open(t, [
    wake,
    waiting,
    { ...agent, busy: 'reject' },
    agent,
  ] as Action[])
  state.accept = async ({ actions }) => {
    const outcomes = ['accepted', 'joined', 'busy', 'accepted'] as const
    state.acceptance = {
      actions: outcomes.map((outcome, index) => ({
        outcome,
        id: outcome === 'joined' ? firstRun : (actions[index]?.record.id ?? ''),
      })),
    }
  }
  const { body } = await post('github', {})
  const [event, , busy, plain] = (entries[0]?.actions ?? []).map(({ record }) => record.id)
  const run = { kind: 'agent', sessionKey: 'hook:"quoted"' }
  assert.deepEqual(body['actions'], [
    { kind: 'wake', mode: 'next-heartbeat', eventId: event },
    { ...run, runId: firstRun, coalesced: true },
    { ...run, runId: busy, state: 'cancelled', code: 'BUSY' },
    { ...run, runId: plain },
  ])
})

test('a run waits for more of its endpoint, mapping and given session, and not beyond its deadline', async (t) => {
  const coalesce = {
    key: 'main',
    windowMs: 10_000,
    maxWaitMs: 60_000,
    keep: 'all',
    maxRunsPerHour: 7,
  } as const
  for (const [given, maxWaitMs, session, afterMs] of [
    [true, 60_000, 'hook:push', 10_000],
    [false, 2000, '', 2000],
  ] as const) {
    const action = { ...agent, mapping: 'pushed', sessionKey: 'hook:push', sessionKeyGiven: given }
    const { post, entries, state } = await open(t, [
      { ...action, coalesce: { ...coalesce, maxWaitMs } } as Action,
    ])
    await post('github', {})
    const key = JSON.stringify(['github', 'pushed', session, 'main'])
    const dueAt = state.now + afterMs
    assert.partialDeepStrictEqual(entries[0]?.actions[0], {
      join: { key, dueAt, keep: 'all' },
      record: { coalesce: { key, keep: 'all', deadline: state.now + maxWaitMs, maxPerHour: 7 } },
      tasks: [{ dueAt }],
    })
  }
})

test('an event waits for the next heartbeat, unless the main session lives elsewhere', async (t) => {
  const answers = { relays: false }
  const { post, entries } = await openSurface(t, { relaysEvents: () => answers.relays })
  await post('wake', { text: 'x' })
  answers.relays = true
  await post('wake', { text: 'x' })
  assert.deepEqual(
    entries.map(({ actions }) => actions[0]?.tasks.map(({ key }) => key)),
    [[], ['heartbeat:main']],
  )
})
