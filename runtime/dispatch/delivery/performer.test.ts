import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import type { DeliveryRecord, RunRecord } from '../../store/port.ts'
import { openTestBed, type Setting, type TestBed } from '../test-bed.ts'

type Facts = { retryable: boolean; retryAfter?: number; maybeDelivered?: boolean }
const broken = (code: string, facts: Facts) => new PluginError(`the wall said ${code}`, { code, ...facts })
const unsure = { retryable: true, maybeDelivered: true }

const failing = (code: string, facts: Facts): Setting => ({
  send: () => Promise.reject(broken(code, facts)),
})
const hanging: Setting = {
  send: (_part, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
}

function untilDelivery(
  bed: Pick<TestBed, 'until' | 'deliveries'>,
  holds: (found: DeliveryRecord) => boolean,
) {
  return bed.until(async () => {
    const [delivery] = await bed.deliveries()
    return delivery !== undefined && holds(delivery) && delivery
  })
}

/** A bed that performs, with one run whose reply is delivered. */
async function deliver(
  t: Parameters<typeof openTestBed>[0],
  setting: Setting = {},
  run: Partial<RunRecord> = {},
) {
  const bed = await openTestBed(t, setting)
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, ...run })
  return {
    ...bed,
    id,
    delivered: () => bed.untilRun(id, ({ stage }) => stage === 'delivered'),
    tried: (attempts: number) => untilDelivery(bed, (delivery) => delivery.attempts === attempts),
    parked: () => untilDelivery(bed, ({ state }) => state === 'parked'),
    texts: () => bed.sent.map(({ text }) => text),
  }
}

test('a reply is delivered, part by part, and its run reaches its last stage', async (t) => {
  const bed = await deliver(t, {}, { prompt: 'one|two|three' })
  const run = await bed.delivered()
  const delivery = await bed.read().delivery(run.deliveryIds[0] ?? '')
  const parts = ['one', 'two', 'three'].map((text, index) => ({
    text,
    to: 'Ada',
    key: `${delivery?.id}:${index + 1}`,
  }))
  assert.deepEqual(bed.sent, parts)
  assert.deepEqual([delivery?.state, delivery?.receipts.length, delivery?.attempts], ['delivered', 3, 1])
  assert.deepEqual([delivery?.runId, run.deliveredAt], [bed.id, bed.clock.now()])
})

test('a reply goes to each of several targets, and the run is at its last stage when the last one has it', async (t) => {
  let held: (() => void) | undefined
  const bed = await deliver(
    t,
    {
      send: (_part, { target }) =>
        target['to'] === 'Bob' ? new Promise((resolve) => (held = resolve)) : Promise.resolve(),
    },
    { deliverTo: ['Ada', 'Bob'].map((to) => ({ channel: 'wall', to })) },
  )
  await bed.until(async () => (await bed.deliveries()).some(({ state }) => state === 'delivered') && held)
  assert.equal((await bed.read().run(bed.id))?.stage, 'summarised')
  held?.()
  assert.equal((await bed.delivered()).deliveryIds.length, 2)
  assert.deepEqual(bed.sent.map(({ to }) => to).sort(), ['Ada', 'Bob'])
})

test('a run with a target that cannot be reached is not delivered', async (t) => {
  const bed = await deliver(t, {}, { deliverTo: [{ channel: 'wall', to: 'Ada' }, { channel: 'pager' }] })
  const found = await bed.until(async () => {
    const deliveries = await bed.deliveries()
    return deliveries.some(({ state }) => state === 'delivered') && deliveries
  })
  assert.deepEqual(
    found.map(({ state, code }) => `${state} ${code}`),
    ['delivered undefined', 'parked NO_ROUTE'],
  )
  assert.equal((await bed.read().run(bed.id))?.stage, 'summarised')
})

test('replies that are not delivered, and why', async (t) => {
  const silent = await deliver(t, {}, { deliver: false })
  assert.deepEqual([(await silent.delivered()).deliveryIds, await silent.deliveries()], [[], []])
  for (const [reply, setting, code] of [
    ['HEARTBEAT_OK.', {}, 'ACK_ONLY'],
    ['NO_REPLY', {}, 'ACK_ONLY'],
    [' \n', {}, 'BLANK_REPLY'],
    ['of no part', { channel: { render: () => [] } }, 'BLANK_REPLY'],
  ] as const) {
    const bed = await deliver(t, { ...setting, run: async () => ({ reply }) })
    await bed.delivered()
    const [delivery] = await bed.deliveries()
    assert.deepEqual([delivery?.state, delivery?.code, bed.sent], ['skipped', code, []], reply)
    assert.equal(bed.log('delivery-skipped').length, 1, reply)
  }
})

test('a reply that begins with the acknowledgement is sent without it, and kept whole in its conversation', async (t) => {
  const reply = 'HEARTBEAT_OK\n\nBuild 7 failed on main.'
  const bed = await deliver(t, { run: async () => ({ reply }) })
  assert.equal((await bed.delivered()).reply, reply)
  assert.deepEqual(bed.texts(), ['Build 7 failed on main.'])
})

test('a part is not sent again while the process lives, though its receipt was never written', async (t) => {
  const bed = await openTestBed(t)
  bed.startOnly('run')
  const isLost = bed.startForgetful('delivery')
  await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await bed.until(async () => isLost())
  bed.clock.advance(5000)
  const { state, receipts } = await untilDelivery(bed, (delivery) => delivery.state !== 'pending')
  assert.deepEqual([state, receipts], ['delivered', [{ id: 'w1' }, { id: 'w2' }]])
  assert.equal(bed.sent.length, 2)
})

test('a part that may have arrived is parked, even if that could not be written, as long as the process lives', async (t) => {
  const bed = await openTestBed(t, failing('timeout', unsure))
  bed.startOnly('run')
  const isLost = bed.startForgetful('delivery')
  await bed.acceptRun({ deliver: true, prompt: 'one' })
  await bed.until(async () => isLost())
  bed.clock.advance(5000)
  const { state, reason } = await untilDelivery(bed, (delivery) => delivery.state !== 'pending')
  assert.deepEqual([state, bed.sending()], ['parked', 1])
  assert.match(reason ?? '', /^it may have arrived: /)
})

test('without a usable destination the run succeeds and its delivery is parked with NO_ROUTE', async (t) => {
  const bed = await deliver(t, {}, { channel: 'last', to: undefined })
  const run = await bed.untilRun(bed.id, ({ state }) => state === 'succeeded')
  const [delivery] = await bed.deliveries()
  assert.deepEqual([run.stage, run.deliveredAt], ['summarised', undefined])
  assert.deepEqual([delivery?.state, delivery?.channel, delivery?.code], ['parked', 'whatsapp', 'NO_ROUTE'])
  assert.match(delivery?.reason ?? '', /whatsapp is not configured/)
  assert.equal(bed.log('delivery-parked').length, 1)
})

test('last follows the route that an operator set', async (t) => {
  const bed = await openTestBed(t, { route: { channel: 'wall', to: 'Grace' } })
  await bed.start()
  await bed.command({ type: 'set-route', route: { channel: 'wall', to: 'Hedy' } })
  const id = await bed.acceptRun({ deliver: true, channel: 'last', to: undefined })
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.equal(bed.sent[0]?.to, 'Hedy')
})

test('a failed part is sent again alone, after the backoff', async (t) => {
  let fail = true
  const bed = await deliver(
    t,
    {
      async send(part) {
        if (part.text === 'two' && fail) throw broken('unavailable', { retryable: true })
      },
    },
    { prompt: 'one|two|three' },
  )
  const { state, receipts, code, nextAt } = await bed.tried(1)
  assert.deepEqual(
    [state, receipts.length, code, nextAt],
    ['pending', 1, 'unavailable', bed.clock.now() + 2000],
  )
  fail = false
  bed.clock.advance(2000)
  await bed.delivered()
  const [delivery] = await bed.deliveries()
  assert.deepEqual([delivery?.code, delivery?.nextAt, delivery?.attempts], [undefined, undefined, 2])
  assert.deepEqual([bed.texts(), bed.turns.length], [['one', 'two', 'three'], 1])
})

test('a limited part waits as long as the vendor asks, at most an hour, or half a minute; and that is no attempt', async (t) => {
  for (const [retryAfter, ms] of [
    [90, 90_000],
    [86_400, 3_600_000],
    [1.2345, 1235],
    [0.0001, 250],
    [undefined, 30_000],
  ] as const) {
    const bed = await deliver(
      t,
      failing('rate-limited', { retryable: true, ...(retryAfter && { retryAfter }) }),
    )
    const { nextAt, attempts } = await untilDelivery(bed, ({ code }) => code === 'rate-limited')
    assert.deepEqual([(nextAt ?? 0) - bed.clock.now(), attempts], [ms, 0], `${retryAfter}`)
    assert.deepEqual(bed.log('task-faulted'), [])
  }
})

const said = 'The patient in private room twelve is to be given nothing to eat before the operation.'
const quoting = `Bad Request: "${said.slice(0, 60)}" is not allowed, says the wall.`

interface Parked {
  readonly prompt?: string
  /** Milliseconds that the part is on its way. */
  readonly after?: number
  readonly code: string
  readonly reason: string | RegExp
}

/** Behaviours of a channel that park its delivery at the first try. */
const parkings: Readonly<Record<string, Setting & Parked>> = {
  'a permanent error': {
    ...failing('forbidden', { retryable: false }),
    code: 'forbidden',
    reason: 'the wall said forbidden',
  },
  'an error that is no plugin error, with its place': {
    send: (part) => Promise.reject(new TypeError(`cannot send ${part.text}`)),
    code: 'CHANNEL_FAILED',
    reason: /^cannot send private \(\S+performer\.test\.ts:\d+:\d+\)$/,
  },
  'an error that quotes the message, without the quotation': {
    prompt: said,
    send: () => Promise.reject(new PluginError(quoting, { code: 'bad-request', retryable: false })),
    code: 'bad-request',
    reason: 'Bad Request: "…" is not allowed, says the wall.',
  },
  'no receipt': {
    channel: { send: async () => undefined as never },
    code: 'CHANNEL_FAILED',
    reason: 'the channel answered without a receipt',
  },
  'an address that it refuses': {
    channel: {
      target() {
        throw broken('bad-target', { retryable: false })
      },
    },
    code: 'bad-target',
    reason: 'the wall said bad-target',
  },
  'no target': { channel: { target: () => undefined as never }, code: 'CHANNEL_FAILED', reason: /target/ },
  'no list of parts': {
    channel: { render: () => undefined as never },
    code: 'CHANNEL_FAILED',
    reason: /parts/,
  },
  'a part that may have arrived where a repeat may double': {
    ...failing('network', unsure),
    code: 'network',
    reason: 'it may have arrived: the wall said network',
  },
  'no answer within 30 s': {
    ...hanging,
    after: 30_000,
    code: 'TIMEOUT',
    reason: 'it may have arrived: the channel did not answer within 30 s',
  },
  'no answer within its own time': {
    ...hanging,
    channel: { limits: { part: 1000, unit: 'utf16', sendTimeoutMs: 60_000 } },
    after: 60_000,
    code: 'TIMEOUT',
    reason: 'it may have arrived: the channel did not answer within 60 s',
  },
}

for (const [what, { prompt = 'private', after, code, reason, ...setting }] of Object.entries(parkings))
  test(`${what} parks the delivery, its run stays succeeded, and no log line quotes the reply`, async (t) => {
    const bed = await deliver(t, setting, { prompt })
    if (after !== undefined) {
      await bed.until(async () => bed.sending() === 1)
      bed.clock.advance(after - 1)
      assert.equal((await bed.deliveries())[0]?.state, 'pending')
      bed.clock.advance(1)
    }
    const delivery = await bed.parked()
    assert.equal(delivery.code, code)
    if (typeof reason === 'string') assert.equal(delivery.reason, reason)
    else assert.match(delivery.reason ?? '', reason)
    const run = await bed.read().run(bed.id)
    assert.deepEqual([run?.state, run?.stage, bed.turns.length], ['succeeded', 'summarised', 1])
    assert.doesNotMatch(JSON.stringify(bed.lines), /private|patient/)
  })

test('a delivery is tried for as long as the configuration says since its first try, and then parked', async (t) => {
  const bed = await openTestBed(t, {
    deliveries: { retryForMs: 60_000 },
    ...failing('unavailable', { retryable: true }),
  })
  await bed.start()
  bed.clock.advance(120_000)
  await bed.acceptRun({ deliver: true })
  for (let attempts = 1; attempts < 6; attempts += 1) {
    const waiting = await untilDelivery(bed, (delivery) => delivery.attempts === attempts)
    if (attempts === 1) assert.equal(waiting.firstTriedAt, bed.clock.now())
    bed.clock.advance((waiting.nextAt ?? 0) - bed.clock.now())
  }
  const { attempts, reason, code, firstTriedAt } = await untilDelivery(bed, ({ state }) => state === 'parked')
  assert.deepEqual(
    [attempts, reason, code, firstTriedAt],
    [6, 'given up after 6 attempts in 1 min: the wall said unavailable', 'unavailable', undefined],
  )
  assert.equal(bed.log('delivery-retried').length, 5)
})

for (const [why, setting] of [
  ['the operator prefers a double to a gap', { deliveries: { retryUnsure: true } }],
  ['the channel recognises repeats', { channel: { idempotency: { windowMs: 60_000 } } }],
] as const)
  test(`a part that may have arrived is sent again under the same key if ${why}`, async (t) => {
    const keys: string[] = []
    const bed = await deliver(t, {
      ...setting,
      async send(_part, { key }) {
        keys.push(key)
        if (keys.length === 1) throw broken('network', unsure)
      },
    })
    await bed.tried(1)
    bed.clock.advance(2000)
    await bed.delivered()
    assert.deepEqual(keys, [keys[0], keys[0]])
  })

test('a part that may have arrived is not sent by a later process once the channel has forgotten it', async (t) => {
  const bed = await deliver(t, {
    channel: { idempotency: { windowMs: 60_000 } },
    ...failing('network', unsure),
  })
  await bed.tried(1)
  await bed.crash()
  bed.clock.advance(60_000)
  await bed.start()
  const { code, reason } = await bed.parked()
  assert.deepEqual(
    [code, reason, bed.sending()],
    ['network', 'it may have arrived: the wall said network', 1],
  )
})

test('a part that may have arrived is not sent again once the channel has forgotten it', async (t) => {
  let tries = 0
  const bed = await deliver(t, {
    channel: { idempotency: { windowMs: 60_000 } },
    async send() {
      tries += 1
      throw tries === 1
        ? broken('network', unsure)
        : broken('rate-limited', { retryable: true, retryAfter: 60 })
    },
  })
  await bed.tried(1)
  bed.clock.advance(2000)
  const { code, reason, unsureSince } = await bed.parked()
  assert.deepEqual(
    [code, reason, unsureSince],
    ['rate-limited', 'it may have arrived: the wall said rate-limited', undefined],
  )
})

test('one recipient gets replies in order while another is not kept waiting', async (t) => {
  let down = true
  const bed = await openTestBed(t, {
    async send(_part, { target }) {
      if (down && target.key === 'ada') throw broken('unavailable', { retryable: true })
    },
  })
  await bed.start()
  const ids: string[] = []
  for (const [prompt, to] of [
    ['first', 'Ada'],
    ['second', 'ADA'],
    ['other', 'Grace'],
  ] as const) {
    const id = await bed.acceptRun({ deliver: true, prompt, to })
    ids.push(id)
    await bed.untilRun(id, (run) => run.stage !== 'accepted' && run.stage !== 'running')
  }
  await bed.untilRun(ids[2] ?? '', (run) => run.stage === 'delivered')
  down = false
  bed.clock.advance(2000)
  await bed.untilRun(ids[1] ?? '', (run) => run.stage === 'delivered')
  assert.deepEqual(
    bed.sent.map((each) => each.text),
    ['other', 'first', 'second'],
  )
})

test('a channel that is not configured any more parks the delivery', async (t) => {
  const bed = await deliver(t, failing('unavailable', { retryable: true }))
  await bed.tried(1)
  bed.removeChannel()
  bed.clock.advance(2000)
  assert.equal((await bed.parked()).code, 'NO_ROUTE')
})

test('a receipt that is not all data is stored as far as it is, and its part sent once', async (t) => {
  let calls = 0
  const answers = [
    { id: 'a', raw: () => {} },
    { id: 'b', count: 1n },
  ]
  const bed = await deliver(
    t,
    { channel: { send: async () => answers[calls++] as never } },
    { prompt: 'one|two' },
  )
  const { receipts } = await untilDelivery(bed, ({ state }) => state === 'delivered')
  assert.deepEqual([receipts, calls], [[{ id: 'a' }, { id: 'b' }], 2])
  assert.deepEqual(bed.log('task-faulted'), [])
})

test('a channel that is removed while it fails leaves the delivery its outcome', async (t) => {
  let isGone = false
  const idempotency = {
    get windowMs() {
      if (isGone) throw new Error('not configured any more')
      return 60_000
    },
  }
  const bed = await deliver(t, {
    channel: { idempotency },
    async send() {
      isGone = true
      throw broken('cut-off', unsure)
    },
  })
  assert.equal((await bed.tried(1)).code, 'cut-off')
})
