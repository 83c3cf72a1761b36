/** Tests what a replay may do again, on records that a test makes up. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AskedReplay, Replayed } from '../http/index.ts'
import { createIdMinter } from '../store/id.ts'
import type { DeliveryRecord, Reader, RequestRecord, RunRecord } from '../store/port.ts'
import { createReplays } from './replays.ts'

const head = { headers: { 'content-type': 'text/plain' }, query: {} }
const body = Buffer.from('{"n":1}')

const failed = {
  id: 'original',
  endpoint: 'orders',
  generation: 1,
  outcome: 'failed',
  status: 500,
  bodyBytes: 7,
  receivedAt: 0,
  timings: {},
  actions: [],
  body,
  head,
} as const satisfies RequestRecord

const brought = (...runs: string[]) => runs.map((id) => ({ kind: 'agent', id }) as const)
const accepted: RequestRecord = { ...failed, outcome: 'accepted', status: 202, actions: brought('run') }

const delivered = { id: 'd', state: 'delivered', receipts: [{ id: 1 }] }

/** The fields that matter of what there is. */
interface World {
  readonly requests: readonly RequestRecord[]
  readonly runs?: Readonly<Record<string, Partial<RunRecord>>>
  readonly deliveries?: readonly object[]
  readonly answer?: Partial<Replayed>
}

function open({ requests, runs = {}, deliveries = [], answer = {} }: World) {
  const asked: AskedReplay[] = []
  const read = {
    request: async (id: string) => requests.find((request) => request.id === id),
    requests: async ({ replayOf }: { replayOf?: string }) => ({
      items: requests.filter((request) => request.replayOf === replayOf),
    }),
    run: async (id: string) =>
      runs[id] && { id, deliver: true, deliveryIds: [], state: 'succeeded', ...runs[id] },
    delivery: async (id: string) => deliveries.find((each) => (each as DeliveryRecord).id === id),
  } as unknown as Reader
  const replays = createReplays({
    store: { read },
    mintId: createIdMinter(() => 0),
    async replay(given) {
      asked.push(given)
      return { outcome: 'accepted', status: 202, actions: [], isRecorded: true, ...answer }
    },
  })
  return { replays, asked, terms: () => asked.map((each) => each.terms) }
}

test('a replay of what came to nothing keeps its keys; of what had an effect, or with another body, it has none', async () => {
  const edited = { bytes: Buffer.from('x'), isJson: false }
  const again: RequestRecord = { ...failed, id: 'again', replayOf: 'original' }
  for (const [requests, id, task, dedupe] of [
    [[failed], 'original', {}, 'own'],
    [[{ ...failed, outcome: 'ignored' }], 'original', {}, 'own'],
    [[failed], 'original', { edited }, 'apart'],
    [[{ ...accepted, actions: [] }], 'original', {}, 'apart'],
    [[{ ...accepted, actions: [], outcome: 'duplicate' }], 'original', {}, 'apart'],
    [[failed, again], 'again', {}, 'own'],
    [[{ ...accepted, actions: [] }, again], 'again', {}, 'apart'],
    [[again], 'again', {}, 'own'],
  ] as const satisfies readonly unknown[]) {
    const { replays, terms } = open({ requests: requests as readonly RequestRecord[] })
    const answer = await replays.perform(id, task)
    assert.ok(answer.ok)
    assert.deepEqual(
      terms(),
      [{ original: 'original', dedupe, undelivered: undefined }],
      JSON.stringify([id, dedupe]),
    )
  }
})

test('a reply does not go out again if one was delivered, is on its way, may have arrived, or may still be made', async () => {
  for (const [run, deliveries, fate] of [
    [
      undefined,
      [],
      /^its reply is not delivered again: run run is no longer kept, and its reply may have been/,
    ],
    [{ state: 'queued' }, [], /run run is queued, and may deliver its reply yet$/],
    [{ state: 'running' }, [], /run run is running/],
    [{ state: 'parked' }, [], /run run is parked/],
    [{ handedOver: 'there' }, [], /run run was handed over to another system/],
    [{ deliveryIds: ['d'] }, [delivered], /the reply of run run was delivered$/],
    [{ deliveryIds: ['d'] }, [{ ...delivered, state: 'pending' }], /is on its way$/],
    [{ deliveryIds: ['d'] }, [{ ...delivered, state: 'parked' }], /may have arrived$/],
    [
      { deliveryIds: ['d'] },
      [{ ...delivered, state: 'parked', receipts: [], unsureSince: 1 }],
      /may have arrived$/,
    ],
    [{ deliveryIds: ['d'] }, [], /may have been delivered$/],
    [{ state: 'queued', deliver: false }, [], undefined],
    [{ state: 'failed' }, [], undefined],
    [{ state: 'cancelled' }, [], undefined],
    [{ deliveryIds: ['d'] }, [{ ...delivered, state: 'skipped', receipts: [] }], undefined],
    [{ deliveryIds: ['d'] }, [{ ...delivered, state: 'parked', receipts: [] }], undefined],
  ] as const) {
    const world: World = {
      requests: [accepted],
      ...(run && { runs: { run: run as unknown as Partial<RunRecord> } }),
      deliveries,
    }
    const { replays, terms } = open(world)
    await replays.perform('original')
    const [{ undelivered } = { undelivered: undefined }] = terms()
    if (fate === undefined) assert.equal(undelivered, undefined)
    else assert.match(undelivered ?? '', fate)

    const insisting = open(world)
    await insisting.replays.perform('original', { deliverAgain: true })
    assert.equal(insisting.terms()[0]?.undelivered, undefined)
  }
})

test('the reply of an earlier replay counts too, and a replay of a replay names the first original', async () => {
  const earlier: RequestRecord = { ...accepted, id: 'earlier', replayOf: 'original', actions: brought('r2') }
  const world: World = {
    requests: [failed, earlier],
    runs: { r2: { deliveryIds: ['d'] } },
    deliveries: [delivered],
  }
  for (const id of ['original', 'earlier']) {
    const { replays, terms } = open(world)
    await replays.perform(id)
    assert.equal(terms()[0]?.original, 'original')
    assert.match(terms()[0]?.undelivered ?? '', /the reply of run r2 was delivered/)
  }
})

test('a job skips a failed request if a replay of it was accepted', async () => {
  const earlier: RequestRecord = { ...accepted, id: 'earlier', replayOf: 'original', actions: [] }
  const { replays, asked } = open({ requests: [failed, earlier] })
  const answer = await replays.perform('original', { onlyUndone: true })
  assert.deepEqual(answer, { ok: false, code: 'REPLAYED', sentence: 'it was replayed already, as earlier' })
  assert.equal(asked.length, 0)
  const again = open({
    requests: [accepted, { ...earlier, outcome: 'failed' }],
    runs: { run: { deliver: false } },
  })
  assert.ok((await again.replays.perform('original', { onlyUndone: true })).ok)
})

test('an edited body takes the place of the old one, and is JSON if it was given as such', async () => {
  for (const [isJson, type] of [
    [false, 'text/plain'],
    [true, 'application/json'],
  ] as const) {
    const { replays, asked } = open({ requests: [failed] })
    await replays.perform('original', { edited: { bytes: Buffer.from('[2]'), isJson } })
    assert.equal(asked[0]?.body.toString(), '[2]')
    assert.equal(asked[0]?.record.head.headers['content-type'], type)
  }
})

test('a request that cannot be replayed is refused with the reason', async () => {
  const { body: _body, head: _head, ...bare } = failed
  for (const [request, code, sentence] of [
    [undefined, 'NOT_FOUND', 'There is no such request.'],
    [
      { ...bare, outcome: 'refused', code: 'UNAUTHORIZED' },
      'NOT_REPLAYABLE',
      'It was refused (UNAUTHORIZED) before any mapping was asked; the body of such a request is never kept.',
    ],
    [
      { ...bare, outcome: 'handshake' },
      'NOT_REPLAYABLE',
      'A handshake is no event, so there is nothing to replay.',
    ],
    [
      { ...bare, outcome: 'accepted' },
      'BODY_NOT_KEPT',
      'Its body is not kept: `history.bodies: all` keeps those of accepted requests, as long as there is room for them.',
    ],
    [{ ...bare, forgottenAt: 0 }, 'BODY_NOT_KEPT', 'It was forgotten at 1970-01-01T00:00:00.000Z.'],
  ] as const) {
    const { replays, asked } = open({ requests: request === undefined ? [] : [request] })
    assert.deepEqual(await replays.perform('original'), { ok: false, code, sentence })
    assert.equal(asked.length, 0)
  }
  for (const [code, expected] of [
    ['BACKLOG', 'BACKLOG'],
    ['DRAINING', 'DRAINING'],
    ['NOT_FOUND', 'NOT_REPLAYABLE'],
  ] as const) {
    const { replays } = open({ requests: [failed], answer: { outcome: 'refused', code, isRecorded: false } })
    const answer = await replays.perform('original')
    assert.deepEqual([answer.ok, 'code' in answer && answer.code], [false, expected])
  }
})

test('replays of one original follow each other, and those of others do not wait for them', async () => {
  const first = Promise.withResolvers<void>()
  const begun: string[] = []
  const read = {
    request: async (id: string) => ({ ...failed, id }),
    requests: async () => ({ items: [] }),
  } as unknown as Reader
  const replays = createReplays({
    store: { read },
    mintId: createIdMinter(() => 0),
    async replay({ record }) {
      begun.push(record.id)
      if (begun.length === 1) await first.promise
      return { outcome: 'accepted', status: 200, actions: [], isRecorded: true }
    },
  })
  const one = replays.perform('a')
  const two = replays.perform('a')
  await replays.perform('b')
  assert.deepEqual(begun, ['a', 'b'])
  first.resolve()
  await Promise.all([one, two])
  assert.deepEqual(begun, ['a', 'b', 'a'])
})
