import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CandidateTrace, Explanation, HookRequest, Snapshot } from '@reveille/engine'
import { createIgnoredTraces } from './ignored-traces.ts'

const request = (endpoint: string): HookRequest => ({
  endpoint,
  headers: {},
  query: {},
  payload: {},
  rawBody: Buffer.from('{}'),
  now: 0,
})

const failed = (mapping: string): CandidateTrace => ({
  mapping,
  place: 'mappings/test.yaml:1:1',
  verdict: 'failed',
  clause: { path: 'match.source', expected: '"x"' },
})

/** A snapshot that can only explain; `count` says how many mappings it tried. */
function snapshotThat(count: number, hold?: Promise<void>): { snapshot: Snapshot; asked: string[] } {
  const asked: string[] = []
  const candidates = Array.from({ length: count }, (_, index) => failed(`m${index}`))
  const explain = async ({ endpoint }: HookRequest): Promise<Explanation> => {
    asked.push(endpoint)
    await hold
    return { endpoint, decision: { outcome: 'ignored', reason: 'none' }, candidates, actions: [] }
  }
  return { snapshot: { explain } as unknown as Snapshot, asked }
}

/** In turns of the event loop, each of which explains one at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    assert.ok(turn < 10_000, 'it was never explained')
    await new Promise(setImmediate)
  }
}

async function noteAndWait(
  traces: ReturnType<typeof createIgnoredTraces>,
  id: string,
  endpoint: string,
  snapshot: Snapshot,
) {
  traces.note(id, snapshot, request(endpoint))
  await until(() => traces.of(id) !== undefined)
}

test('a request is explained after its reply, and its trace can be read by its id', async () => {
  const traces = createIgnoredTraces()
  const { snapshot, asked } = snapshotThat(2)
  traces.note('a', snapshot, request('github'))
  assert.deepEqual([asked, traces.of('a')], [[], undefined], 'its sender is answered first')
  await until(() => traces.of('a') !== undefined)
  assert.deepEqual(traces.of('a'), { candidates: [failed('m0'), failed('m1')], more: 0 })
  assert.equal(traces.of('b'), undefined)
})

test('the last 20 traces of each endpoint are kept', async () => {
  const traces = createIgnoredTraces()
  const { snapshot } = snapshotThat(1)
  await noteAndWait(traces, 'other', 'stripe', snapshot)
  for (let index = 0; index < 21; index++) await noteAndWait(traces, `r${index}`, 'github', snapshot)
  assert.equal(traces.of('r0'), undefined)
  assert.ok(traces.of('r1') && traces.of('r20') && traces.of('other'))
})

test('made-up endpoints push out quiet ones, so that the number of traces is bounded', async () => {
  const traces = createIgnoredTraces()
  const { snapshot } = snapshotThat(1)
  for (let index = 0; index < 401; index++) await noteAndWait(traces, `r${index}`, `e${index}`, snapshot)
  assert.equal(traces.of('r0'), undefined)
  assert.ok(traces.of('r1') && traces.of('r400'))
})

test('under a flood only the newest requests are explained', async () => {
  const traces = createIgnoredTraces()
  const gate = Promise.withResolvers<void>()
  const { snapshot, asked } = snapshotThat(1, gate.promise)
  traces.note('first', snapshot, request('e'))
  await until(() => asked.length === 1)
  for (let index = 0; index < 100; index++) traces.note(`r${index}`, snapshot, request('e'))
  gate.resolve()
  await until(() => traces.of('r99') !== undefined)
  assert.deepEqual([asked.length, traces.of('r91'), traces.of('r92') !== undefined], [9, undefined, true])
})

test('the first of very many mappings are shown, and the others are counted', async () => {
  const traces = createIgnoredTraces()
  await noteAndWait(traces, 'a', 'e', snapshotThat(1000).snapshot)
  const trace = traces.of('a')
  assert.deepEqual([trace?.candidates.length, trace?.more], [50, 950])
})
