import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import type { DeliveryRecord } from '../../store/port.ts'
import { openTestBed, type TestBed } from '../test-bed.ts'

const broken = (code: string, facts: { retryable: boolean; retryAfter?: number; maybeDelivered?: boolean }) =>
  new PluginError(`the wall said ${code}`, { code, ...facts })

function untilDelivery(bed: TestBed, holds: (delivery: DeliveryRecord) => boolean) {
  return bed.until(async () => {
    const [delivery] = await bed.deliveries()
    return delivery !== undefined && holds(delivery) && delivery
  })
}

test('a reply is delivered, part by part, and its run reaches its last stage', async (t) => {
  const bed = await openTestBed(t)
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two|three' })
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')
  const delivery = await bed.read().delivery(run.deliveryIds[0] ?? '')
  assert.deepEqual(
    bed.sent.map(({ text, to, key }) => [text, to, key]),
    [
      ['one', 'Ada', `${delivery?.id}:1`],
      ['two', 'Ada', `${delivery?.id}:2`],
      ['three', 'Ada', `${delivery?.id}:3`],
    ],
  )
  assert.deepEqual([delivery?.state, delivery?.receipts.length, delivery?.attempts], ['delivered', 3, 1])
  assert.deepEqual([delivery?.runId, run.deliveredAt], [id, bed.clock.now()])
})

test('a reply goes to each of several targets, and the run is at its last stage when the last one has it', async (t) => {
  let held: (() => void) | undefined
  const bed = await openTestBed(t, {
    send: (_part, { target }) =>
      target['to'] === 'Bob' ? new Promise((resolve) => (held = resolve)) : Promise.resolve(),
  })
  await bed.start()
  const deliverTo = ['Ada', 'Bob'].map((to) => ({ channel: 'wall', to }))
  const id = await bed.acceptRun({ deliver: true, deliverTo, prompt: 'hello' })
  await bed.until(async () => (await bed.deliveries()).some(({ state }) => state === 'delivered') && held)
  assert.equal((await bed.read().run(id))?.stage, 'summarised')
  held?.()
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')
  assert.equal(run.deliveryIds.length, 2)
  assert.deepEqual(bed.sent.map(({ to }) => to).sort(), ['Ada', 'Bob'])
})

test('a run with a target that cannot be reached is not delivered', async (t) => {
  const bed = await openTestBed(t)
  await bed.start()
  const deliverTo = [{ channel: 'wall', to: 'Ada' }, { channel: 'pager' }]
  const id = await bed.acceptRun({ deliver: true, deliverTo, prompt: 'hello' })
  await bed.until(async () => (await bed.deliveries()).some(({ state }) => state === 'delivered'))
  const states = (await bed.deliveries()).map(({ state, code }) => [state, code])
  assert.deepEqual(states, [
    ['delivered', undefined],
    ['parked', 'NO_ROUTE'],
  ])
  assert.equal((await bed.read().run(id))?.stage, 'summarised')
})

test('a run that does not deliver makes no delivery', async (t) => {
  const bed = await openTestBed(t)
  await bed.start()
  const id = await bed.acceptRun({ deliver: false })
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')
  assert.deepEqual([run.deliveryIds, await bed.deliveries()], [[], []])
})

for (const [reply, code] of [
  ['HEARTBEAT_OK.', 'ACK_ONLY'],
  ['NO_REPLY', 'ACK_ONLY'],
  [' \n', 'BLANK_REPLY'],
]) {
  test(`the reply ${JSON.stringify(reply)} is skipped as ${code}`, async (t) => {
    const bed = await openTestBed(t, { run: async () => ({ reply: reply ?? '' }) })
    await bed.start()
    const id = await bed.acceptRun({ deliver: true })
    await bed.untilRun(id, (run) => run.stage === 'delivered')
    const [delivery] = await bed.deliveries()
    assert.deepEqual([delivery?.state, delivery?.code, bed.sent], ['skipped', code, []])
    assert.equal(bed.log('delivery-skipped').length, 1)
  })
}

test('a reply that begins with the acknowledgement is sent without it, and kept whole in its conversation', async (t) => {
  const reply = 'HEARTBEAT_OK\n\nBuild 7 failed on main.'
  const bed = await openTestBed(t, { run: async () => ({ reply }) })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.deepEqual(
    bed.sent.map(({ text }) => text),
    ['Build 7 failed on main.'],
  )
  assert.equal((await bed.read().run(id))?.reply, reply)
})

test('a reply that the channel renders as nothing is skipped', async (t) => {
  const bed = await openTestBed(t, { channel: { render: () => [] } })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.equal((await bed.deliveries())[0]?.state, 'skipped')
})

test('a part is not sent again while the process lives, though its receipt was never written', async (t) => {
  const bed = await openTestBed(t)
  bed.startOnly('run')
  const isLost = bed.startForgetful('delivery')
  await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await bed.until(async () => isLost())
  bed.clock.advance(5000)
  const delivery = await untilDelivery(bed, ({ state }) => state !== 'pending')
  assert.deepEqual(
    bed.sent.map(({ text }) => text),
    ['one', 'two'],
  )
  assert.deepEqual([delivery.state, delivery.receipts], ['delivered', [{ id: 'w1' }, { id: 'w2' }]])
})

test('a part that may have arrived is parked, even if that could not be written, as long as the process lives', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async send() {
      calls += 1
      throw broken('timeout', { retryable: true, maybeDelivered: true })
    },
  })
  bed.startOnly('run')
  const isLost = bed.startForgetful('delivery')
  await bed.acceptRun({ deliver: true, prompt: 'one' })
  await bed.until(async () => isLost())
  bed.clock.advance(5000)
  const delivery = await untilDelivery(bed, ({ state }) => state !== 'pending')
  assert.deepEqual([delivery.state, calls], ['parked', 1])
  assert.match(delivery.reason ?? '', /^it may have arrived: /)
})

test('without a usable destination the run succeeds and its delivery is parked with NO_ROUTE', async (t) => {
  const bed = await openTestBed(t)
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, channel: 'last', to: undefined })
  const run = await bed.untilRun(id, (each) => each.state === 'succeeded')
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
  const bed = await openTestBed(t, {
    async send(part) {
      if (part.text === 'two' && fail) throw broken('unavailable', { retryable: true })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two|three' })
  const waiting = await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  assert.deepEqual(
    [waiting.state, waiting.receipts.length, waiting.code, waiting.nextAt],
    ['pending', 1, 'unavailable', bed.clock.now() + 2000],
  )
  fail = false
  bed.clock.advance(2000)
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.deepEqual(
    bed.sent.map((each) => each.text),
    ['one', 'two', 'three'],
  )
  const [delivery] = await bed.deliveries()
  assert.deepEqual([delivery?.code, delivery?.nextAt, delivery?.attempts], [undefined, undefined, 2])
  assert.equal(bed.turns.length, 1)
})

test('Retry-After wins over the backoff, up to an hour', async (t) => {
  for (const [retryAfter, seconds] of [
    [90, 90],
    [86_400, 3600],
  ] as const) {
    const bed = await openTestBed(t, {
      async send() {
        throw broken('rate-limited', { retryable: true, retryAfter })
      },
    })
    await bed.start()
    await bed.acceptRun({ deliver: true })
    const waiting = await untilDelivery(bed, ({ code }) => code === 'rate-limited')
    assert.equal((waiting.nextAt ?? 0) - bed.clock.now(), seconds * 1000)
    assert.equal(waiting.attempts, 0, 'a limit is no attempt')
  }
})

test('a Retry-After with a fraction is a due time like any other', async (t) => {
  const bed = await openTestBed(t, {
    async send() {
      throw broken('rate-limited', { retryable: true, retryAfter: 1.2345 })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const waiting = await untilDelivery(bed, ({ code }) => code === 'rate-limited')
  assert.equal((waiting.nextAt ?? 0) - bed.clock.now(), 1235)
  assert.deepEqual(bed.log('task-faulted'), [])
})

test('a vendor that asks for a very short wait is not asked over and over', async (t) => {
  const bed = await openTestBed(t, {
    async send() {
      throw broken('rate-limited', { retryable: true, retryAfter: 0.0001 })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const waiting = await untilDelivery(bed, ({ code }) => code === 'rate-limited')
  assert.equal((waiting.nextAt ?? 0) - bed.clock.now(), 250)
})

test('a permanent error parks the delivery with its code, and the run stays succeeded', async (t) => {
  const bed = await openTestBed(t, {
    async send() {
      throw broken('forbidden', { retryable: false })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason, delivery.attempts],
    ['forbidden', 'the wall said forbidden', 1],
  )
  const run = await bed.read().run(id)
  assert.deepEqual([run?.state, run?.stage], ['succeeded', 'summarised'])
})

test('an error that is no plugin error parks the delivery and is not quoted in the log', async (t) => {
  const bed = await openTestBed(t, {
    async send(part) {
      throw new TypeError(`cannot send ${part.text}`)
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true, prompt: 'private' })
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.equal(delivery.code, 'CHANNEL_FAILED')
  assert.match(delivery.reason ?? '', /^cannot send private \(\S+performer\.test\.ts:\d+:\d+\)$/)
  assert.doesNotMatch(JSON.stringify(bed.lines), /private/)
})

test('an error that quotes the message is kept and logged without the quotation', async (t) => {
  const said = 'The patient in room twelve is to be given nothing to eat before the operation.'
  const bed = await openTestBed(t, {
    async send() {
      throw new PluginError(`Bad Request: "${said.slice(0, 60)}" is not allowed, says the wall.`, {
        code: 'bad-request',
        retryable: false,
      })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true, prompt: said })
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.equal(delivery.reason, 'Bad Request: "…" is not allowed, says the wall.')
  assert.doesNotMatch(JSON.stringify(bed.lines), /patient/)
})

test('a channel that returns nonsense parks the delivery, and the log does not quote it', async (t) => {
  const bed = await openTestBed(t, { channel: { send: async () => undefined as never } })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason],
    ['CHANNEL_FAILED', 'the channel answered without a receipt'],
  )
  assert.match(JSON.stringify(bed.lines), /the channel answered without a receipt/)
})

test('an address that the channel refuses parks the delivery with its code', async (t) => {
  const bed = await openTestBed(t, {
    channel: {
      target() {
        throw broken('bad-target', { retryable: false })
      },
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await bed.untilRun(id, (run) => run.state === 'succeeded')
  assert.equal((await bed.deliveries())[0]?.code, 'bad-target')
})

test('a delivery is tried for as long as the configuration says since its first try, and then parked', async (t) => {
  const bed = await openTestBed(t, {
    deliveries: { retryForMs: 60_000 },
    async send() {
      throw broken('unavailable', { retryable: true })
    },
  })
  await bed.start()
  bed.clock.advance(120_000)
  await bed.acceptRun({ deliver: true })
  const first = await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  assert.equal(first.firstTriedAt, bed.clock.now())
  for (let attempts = 1; attempts < 6; attempts += 1) {
    const waiting = await untilDelivery(bed, (delivery) => delivery.attempts === attempts)
    bed.clock.advance((waiting.nextAt ?? 0) - bed.clock.now())
  }
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.attempts, delivery.reason, delivery.code, delivery.firstTriedAt],
    [6, 'given up after 6 attempts in 1 min: the wall said unavailable', 'unavailable', undefined],
  )
  assert.equal(bed.log('delivery-retried').length, 5)
})

test('a vendor that limits us without a time is tried again half a minute later', async (t) => {
  const bed = await openTestBed(t, {
    async send() {
      throw broken('rate-limited', { retryable: true })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const waiting = await untilDelivery(bed, ({ code }) => code === 'rate-limited')
  assert.deepEqual([(waiting.nextAt ?? 0) - bed.clock.now(), waiting.attempts], [30_000, 0])
})

test('a part that may have arrived is sent again if the operator prefers a double to a gap', async (t) => {
  let tries = 0
  const bed = await openTestBed(t, {
    deliveries: { retryUnsure: true },
    async send() {
      tries += 1
      if (tries === 1) throw broken('network', { retryable: true, maybeDelivered: true })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  bed.clock.advance(2000)
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.equal(tries, 2)
})

test('a part that may have arrived is not sent by a later process once the channel has forgotten it', async (t) => {
  const bed = await openTestBed(t, {
    channel: { idempotency: { windowMs: 60_000 } },
    async send() {
      throw broken('network', { retryable: true, maybeDelivered: true })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  await bed.crash()
  bed.clock.advance(60_000)
  await bed.start()
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason, bed.sending()],
    ['network', 'it may have arrived: the wall said network', 1],
  )
})

test('a channel says how long one part may take', async (t) => {
  const bed = await openTestBed(t, {
    channel: { limits: { part: 1000, unit: 'utf16', sendTimeoutMs: 60_000 } },
    send: (_part, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  await bed.until(async () => bed.sending() === 1)
  bed.clock.advance(59_999)
  assert.equal((await bed.deliveries())[0]?.state, 'pending')
  bed.clock.advance(1)
  const { reason } = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.equal(reason, 'it may have arrived: the channel did not answer within 60 s')
})

test('a part that may have arrived is not sent again if a repeat may double', async (t) => {
  const bed = await openTestBed(t, {
    async send() {
      throw broken('network', { retryable: true, maybeDelivered: true })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason],
    ['network', 'it may have arrived: the wall said network'],
  )
})

test('a part that may have arrived is sent again under the same key if the channel recognises repeats', async (t) => {
  const keys: string[] = []
  const bed = await openTestBed(t, {
    channel: { idempotency: { windowMs: 60_000 } },
    async send(_part, { key }) {
      keys.push(key)
      if (keys.length === 1) throw broken('network', { retryable: true, maybeDelivered: true })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  bed.clock.advance(2000)
  await bed.untilRun(id, (run) => run.stage === 'delivered')
  assert.equal(keys[0], keys[1])
})

test('a part that may have arrived is not sent again once the channel has forgotten it', async (t) => {
  let tries = 0
  const bed = await openTestBed(t, {
    channel: { idempotency: { windowMs: 60_000 } },
    async send() {
      tries += 1
      if (tries === 1) throw broken('network', { retryable: true, maybeDelivered: true })
      throw broken('rate-limited', { retryable: true, retryAfter: 60 })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  bed.clock.advance(2000)
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason, delivery.unsureSince],
    ['rate-limited', 'it may have arrived: the wall said rate-limited', undefined],
  )
})

test('a channel that does not answer within 30 s may have sent the part', async (t) => {
  const bed = await openTestBed(t, {
    send: (_part, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  await bed.until(async () => bed.sending() === 1)
  bed.clock.advance(30_000)
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.deepEqual(
    [delivery.code, delivery.reason],
    ['TIMEOUT', 'it may have arrived: the channel did not answer within 30 s'],
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
  const bed = await openTestBed(t, {
    async send() {
      throw broken('unavailable', { retryable: true })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  bed.removeChannel()
  bed.clock.advance(2000)
  const delivery = await untilDelivery(bed, (each) => each.state === 'parked')
  assert.equal(delivery.code, 'NO_ROUTE')
})

test('a receipt that is not all data is stored as far as it is, and its part sent once', async (t) => {
  let calls = 0
  const answers = [
    { id: 'a', raw: () => {} },
    { id: 'b', count: 1n },
  ]
  const bed = await openTestBed(t, { channel: { send: async () => answers[calls++] as never } })
  await bed.start()
  await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  const { receipts } = await untilDelivery(bed, (delivery) => delivery.state === 'delivered')
  assert.deepEqual([receipts, calls], [[{ id: 'a' }, { id: 'b' }], 2])
  assert.deepEqual(bed.log('task-faulted'), [])
})

test('a channel that renders a reply as no list of parts parks the delivery', async (t) => {
  const bed = await openTestBed(t, { channel: { render: () => undefined as never } })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const { code } = await untilDelivery(bed, (delivery) => delivery.state === 'parked')
  assert.equal(code, 'CHANNEL_FAILED')
})

test('a channel that is removed while it fails leaves the delivery its outcome', async (t) => {
  let isGone = false
  const windowMs = () => {
    if (isGone) throw new Error('not configured any more')
    return 60_000
  }
  const bed = await openTestBed(t, {
    channel: Object.defineProperty({}, 'idempotency', {
      enumerable: true,
      value: Object.defineProperty({}, 'windowMs', { get: windowMs }),
    }),
    async send() {
      isGone = true
      throw broken('cut-off', { retryable: true, maybeDelivered: true })
    },
  })
  await bed.start()
  await bed.acceptRun({ deliver: true })
  const { code } = await untilDelivery(bed, (delivery) => delivery.attempts === 1)
  assert.equal(code, 'cut-off')
})
