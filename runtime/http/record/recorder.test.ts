import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CandidateTrace, Decision, HookRequest, Snapshot } from '@reveille/engine'
import type { RequestRecord, Store } from '../../store/port.ts'
import type { Concluded } from '../request-context.ts'
import { createSnapshot } from '../surface-fixture.ts'
import { createRecorder } from './recorder.ts'

const ignored: Decision = { outcome: 'ignored', reason: 'none' }

const request = (endpoint: string): HookRequest => ({
  endpoint,
  headers: {},
  query: {},
  payload: {},
  rawBody: Buffer.from('{}'),
  now: 0,
})

/** An ignored request; `explain` says how its mappings were tried. */
function ignoredRequest(id: string, explain: Snapshot['explain']): Concluded {
  return {
    facts: {
      headers: {},
      client: '192.0.2.1',
      isInternal: false,
      requestId: id,
      live: { generation: 1, snapshot: { ...createSnapshot(), explain } },
      endpoint: 'github',
      query: '',
      receivedAt: 0,
      startedAt: 0,
      timings: {},
    },
    outcome: { outcome: 'ignored', reason: 'none' },
    decided: { request: request('github'), decision: ignored },
  }
}

const failed = (mapping: string): CandidateTrace => ({
  mapping,
  place: 'mappings/test.yaml:1:1',
  verdict: 'failed',
  clause: { path: 'match.source', expected: '"x"' },
})

/** Explains with this number of mappings; `asked` are the decisions that it was given. */
function explaining(count: number, hold?: Promise<void>) {
  const asked: unknown[] = []
  const candidates = Array.from({ length: count }, (_, index) => failed(`m${index}`))
  const explain: Snapshot['explain'] = async ({ endpoint }, { decided, maxCandidates = count } = {}) => {
    asked.push(decided)
    await hold
    const more = Math.max(0, count - maxCandidates)
    return { endpoint, decision: ignored, candidates: candidates.slice(0, maxCandidates), more, actions: [] }
  }
  return { explain, asked }
}

function openRecorder() {
  const noted: RequestRecord[] = []
  const recorder = createRecorder({
    store: { read: {}, note: (record: RequestRecord) => void noted.push(record) } as unknown as Store,
    now: () => 0,
    mask: (text) => text.replaceAll('a-known-secret', '[redacted]'),
  })
  return { ...recorder, noted }
}

/** In turns of the event loop, each of which explains one at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    assert.ok(turn < 10_000, 'it never happened')
    await new Promise(setImmediate)
  }
}

test('an ignored request is noted with its trace, after the reply and without resolving again', async () => {
  const { keep, noted, read } = openRecorder()
  const { explain, asked } = explaining(2)
  await keep(ignoredRequest('a', explain))
  assert.deepEqual([asked, noted], [[], []], 'its sender is answered first')
  assert.equal((await read.request('a'))?.reason, 'none', 'it is shown meanwhile')
  await until(() => noted.length > 0)
  assert.deepEqual(noted[0]?.trace, { candidates: [failed('m0'), failed('m1')], more: 0 })
  assert.deepEqual(asked, [ignored])
})

test('a known secret in a request is redacted in its trace', async () => {
  const { keep, noted } = openRecorder()
  const clause = { path: 'match.body.token', expected: '"x"' }
  const candidates = [
    {
      ...failed('m0'),
      clause: { ...clause, actual: '"a-known-secret"' },
      params: { tenant: 'a-known-secret' },
    },
  ]
  await keep(ignoredRequest('a', async () => ({ endpoint: 'e', decision: ignored, candidates, actions: [] })))
  await until(() => noted.length > 0)
  assert.deepEqual(noted[0]?.trace?.candidates, [
    { ...failed('m0'), clause: { ...clause, actual: '"[redacted]"' }, params: { tenant: '[redacted]' } },
  ])
})

test('under a flood a few requests are explained, and the others are noted without a trace', async () => {
  const { keep, noted } = openRecorder()
  const gate = Promise.withResolvers<void>()
  const { explain, asked } = explaining(1, gate.promise)
  await keep(ignoredRequest('first', explain))
  await until(() => asked.length === 1)
  for (let index = 0; index < 100; index++) await keep(ignoredRequest(`r${index}`, explain))
  gate.resolve()
  await until(() => noted.length === 101)
  const withTrace = noted.filter(({ trace }) => trace !== undefined).map(({ id }) => id)
  assert.deepEqual(withTrace, ['first', 'r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6'])
  assert.deepEqual([asked.length, new Set(noted.map(({ id }) => id)).size], [8, 101])
})

test('the first of very many mappings are shown, and the others are counted', async () => {
  const { keep, noted } = openRecorder()
  await keep(ignoredRequest('a', explaining(1000).explain))
  await until(() => noted.length > 0)
  assert.deepEqual([noted[0]?.trace?.candidates.length, noted[0]?.trace?.more], [50, 950])
})

test('requests still waiting at the end, and those that cannot be explained, are recorded without a trace', async () => {
  const { keep, noted, close } = openRecorder()
  await keep(ignoredRequest('bad', () => Promise.reject(new Error('no'))))
  await until(() => noted.length === 1)
  await keep(ignoredRequest('late', explaining(1).explain))
  await close()
  assert.deepEqual(
    noted.map(({ id, trace }) => [id, trace]),
    [
      ['bad', undefined],
      ['late', undefined],
    ],
  )
})
