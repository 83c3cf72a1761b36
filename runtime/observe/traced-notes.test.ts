import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CandidateTrace, Decision, Explanation, HookRequest, Snapshot } from '@reveille/engine'
import type { RequestRecord, Store } from '../store/port.ts'
import { createTracedNotes } from './traced-notes.ts'

const ignored: Decision = { outcome: 'ignored', reason: 'none' }

const request = (endpoint: string): HookRequest => ({
  endpoint,
  headers: {},
  query: {},
  payload: {},
  rawBody: Buffer.from('{}'),
  now: 0,
})

function recordOf(id: string): RequestRecord {
  return {
    id,
    endpoint: 'github',
    generation: 1,
    outcome: 'ignored',
    status: 200,
    bodyBytes: 2,
    receivedAt: 0,
    timings: {},
    actions: [],
  }
}

const failed = (mapping: string): CandidateTrace => ({
  mapping,
  place: 'mappings/test.yaml:1:1',
  verdict: 'failed',
  clause: { path: 'match.source', expected: '"x"' },
})

/** A snapshot that can only explain; `count` says how many mappings it tried. */
function snapshotThat(count: number, hold?: Promise<void>) {
  const asked: unknown[] = []
  const candidates = Array.from({ length: count }, (_, index) => failed(`m${index}`))
  const explain = async (
    { endpoint }: HookRequest,
    { decided }: { decided?: Decision } = {},
  ): Promise<Explanation> => {
    asked.push(decided)
    await hold
    return { endpoint, decision: ignored, candidates, actions: [] }
  }
  return { snapshot: { explain } as unknown as Snapshot, asked }
}

function createNotes() {
  const noted: RequestRecord[] = []
  const traced: string[] = []
  const notes = createTracedNotes({
    store: { note: (record: RequestRecord) => void noted.push(record) } as Store,
    mask: (text) => text.replaceAll('a-known-secret', '[redacted]'),
    onExplained: ({ id, candidates }) => void traced.push(`${id} ${candidates.length}`),
  })
  return { notes, noted, traced }
}

/** In turns of the event loop, each of which explains one at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    assert.ok(turn < 10_000, 'it never happened')
    await new Promise(setImmediate)
  }
}

test('a record that is expected is stored with its trace, after the reply and without resolving again', async () => {
  const { notes, noted, traced } = createNotes()
  const { snapshot, asked } = snapshotThat(2)
  notes.expect('a', snapshot, request('github'), ignored)
  notes.store.note(recordOf('a'))
  assert.deepEqual([asked, noted], [[], []], 'its sender is answered first')
  await until(() => noted.length > 0)
  const trace = { candidates: [failed('m0'), failed('m1')], more: 0 }
  assert.deepEqual(noted, [{ ...recordOf('a'), trace }])
  assert.deepEqual([asked, traced], [[ignored], ['a 2']])
})

test('a known secret that a request brought is struck out of its trace', async () => {
  const { notes, noted } = createNotes()
  const clause = { path: 'match.body.token', expected: '"x"' }
  const candidates = [
    {
      ...failed('m0'),
      clause: { ...clause, actual: '"a-known-secret"' },
      params: { tenant: 'a-known-secret' },
    },
  ]
  const explain = async () => ({ endpoint: 'e', decision: ignored, candidates, actions: [] })
  notes.expect('a', { explain } as unknown as Snapshot, request('e'), ignored)
  notes.store.note(recordOf('a'))
  await until(() => noted.length > 0)
  assert.deepEqual(noted[0]?.trace?.candidates, [
    { ...failed('m0'), clause: { ...clause, actual: '"[redacted]"' }, params: { tenant: '[redacted]' } },
  ])
})

test('a record that is not expected is stored at once', () => {
  const { notes, noted } = createNotes()
  notes.store.note(recordOf('a'))
  assert.deepEqual(noted, [recordOf('a')])
})

test('under a flood the newest requests are explained, and the others are stored without a trace', async () => {
  const { notes, noted } = createNotes()
  const gate = Promise.withResolvers<void>()
  const { snapshot, asked } = snapshotThat(1, gate.promise)
  const send = (id: string) => {
    notes.expect(id, snapshot, request('e'), ignored)
    notes.store.note(recordOf(id))
  }
  send('first')
  await until(() => asked.length === 1)
  for (let index = 0; index < 100; index++) send(`r${index}`)
  gate.resolve()
  await until(() => noted.length === 101)
  const withTrace = noted.filter(({ trace }) => trace !== undefined).map(({ id }) => id)
  assert.deepEqual(withTrace, ['first', 'r99', 'r98', 'r97', 'r96', 'r95', 'r94', 'r93', 'r92'])
  assert.deepEqual([asked.length, new Set(noted.map(({ id }) => id)).size], [9, 101])
})

test('the first of very many mappings are shown, and the others are counted', async () => {
  const { notes, noted } = createNotes()
  notes.expect('a', snapshotThat(1000).snapshot, request('e'), ignored)
  notes.store.note(recordOf('a'))
  await until(() => noted.length > 0)
  assert.deepEqual([noted[0]?.trace?.candidates.length, noted[0]?.trace?.more], [50, 950])
})

test('what waits at the end is stored without a trace, and what cannot be explained too', async () => {
  const { notes, noted } = createNotes()
  const explain = () => Promise.reject(new Error('no'))
  notes.expect('bad', { explain } as unknown as Snapshot, request('e'), ignored)
  notes.store.note(recordOf('bad'))
  await until(() => noted.length === 1)
  notes.expect('late', snapshotThat(1).snapshot, request('e'), ignored)
  notes.store.note(recordOf('late'))
  await notes.close()
  assert.deepEqual(noted, [recordOf('bad'), recordOf('late')])
})
