import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { permanentError } from '@reveille/kit'
import type { RunRecord } from '../../store/port.ts'
import { broken, openTestBed, type Setting, startTestBed, untilAborted } from '../test-bed.ts'

const unsure = { maybeDelivered: true }
const permanent = { retryable: false }

const failing = (...[code, facts]: Parameters<typeof broken>): Setting => ({
  send: () => Promise.reject(broken(code, facts)),
})

/** A bed that performs, with one run whose reply is delivered. */
async function deliver(t: TestContext, setting: Setting = {}, run: Partial<RunRecord> = {}) {
  const bed = await startTestBed(t, setting)
  const id = await bed.acceptRun({ deliver: true, ...run })
  return {
    ...bed,
    id,
    delivered: () => bed.untilDelivered(id),
    tried: (attempts: number) => bed.untilDelivery((delivery) => delivery.attempts === attempts),
    parked: () => bed.untilDelivery(({ state }) => state === 'parked'),
  }
}

/** Delivers two parts. The first settlement is lost although the process lives, and the delivery ends all the same. */
async function deliverForgetfully(t: TestContext, setting?: Setting) {
  const bed = await openTestBed(t, setting)
  bed.startOnly('run')
  const isLost = bed.startForgetful('delivery')
  await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await bed.until(async () => isLost())
  bed.clock.advance(5000)
  return { ...bed, ended: await bed.untilDelivery(({ state }) => state !== 'pending') }
}

test('a reply is delivered, part by part, and its run reaches its last stage', async (t) => {
  const bed = await deliver(t, {}, { prompt: 'one|two|three' })
  const run = await bed.delivered()
  const delivery = await bed.read().delivery(run.deliveryIds[0] ?? '')
  const keyOf = (part: number) => `${delivery?.id}:${part}`
  assert.deepEqual(bed.sent, [
    { text: 'one', to: 'Ada', key: keyOf(1) },
    { text: 'two', to: 'Ada', key: keyOf(2) },
    { text: 'three', to: 'Ada', key: keyOf(3) },
  ])
  assert.deepEqual([delivery?.state, delivery?.receipts.length, delivery?.attempts], ['delivered', 3, 1])
  assert.deepEqual([delivery?.runId, run.deliveredAt], [bed.id, bed.clock.now()])
})

test('a reply goes to each of several targets, and the run is at its last stage when the last one has it', async (t) => {
  let held: (() => void) | undefined
  const send: Setting['send'] = async (_part, { target }) => {
    if (target['to'] === 'Bob') await new Promise<void>((resolve) => (held = resolve))
  }
  const deliverTo = ['Ada', 'Bob'].map((to) => ({ channel: 'wall', to }))
  const bed = await deliver(t, { send }, { deliverTo })
  await bed.until(async () => (await bed.deliveries()).some(({ state }) => state === 'delivered') && held)
  assert.equal((await bed.read().run(bed.id))?.stage, 'summarised')
  held?.()
  assert.equal((await bed.delivered()).deliveryIds.length, 2)
  assert.deepEqual(bed.recipients(), ['Ada', 'Bob'])
})

test('a target without a usable destination is parked with NO_ROUTE, and its run succeeds undelivered', async (t) => {
  const bed = await deliver(t, {}, { deliverTo: [{ channel: 'wall', to: 'Ada' }, { channel: 'last' }] })
  await bed.untilDelivery(({ state }) => state === 'delivered')
  const [delivered, parked] = await bed.deliveries()
  assert.deepEqual([delivered?.channel, delivered?.state], ['wall', 'delivered'])
  assert.deepEqual([parked?.channel, parked?.state, parked?.code], ['whatsapp', 'parked', 'NO_ROUTE'])
  assert.match(parked?.reason ?? '', /whatsapp is not configured/)
  assert.equal(bed.log('delivery-parked').length, 1)
  const run = await bed.read().run(bed.id)
  assert.deepEqual([run?.state, run?.stage, run?.deliveredAt], ['succeeded', 'summarised', undefined])
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
  const { ended, sent } = await deliverForgetfully(t)
  assert.deepEqual([ended.state, ended.receipts], ['delivered', [{ id: 'w1' }, { id: 'w2' }]])
  assert.equal(sent.length, 2)
})

test('a part that may have arrived is parked, even if that could not be written, as long as the process lives', async (t) => {
  const { ended, sending } = await deliverForgetfully(t, failing('timeout', unsure))
  assert.deepEqual([ended.state, sending()], ['parked', 1])
  assert.match(ended.reason ?? '', /^it may have arrived: /)
})

test('last follows the route that an operator set', async (t) => {
  const bed = await startTestBed(t, { route: { channel: 'wall', to: 'Grace' } })
  await bed.command({ type: 'set-route', route: { channel: 'wall', to: 'Hedy' } })
  await bed.untilDelivered(await bed.acceptRun({ deliver: true, channel: 'last', to: undefined }))
  assert.deepEqual(bed.recipients(), ['Hedy'])
})

test('a failed part is sent again alone, after the backoff', async (t) => {
  let fail = true
  const send: Setting['send'] = async (part) => {
    if (part.text === 'two' && fail) throw broken('unavailable')
  }
  const bed = await deliver(t, { send }, { prompt: 'one|two|three' })
  const { state, receipts, code, nextAt } = await bed.tried(1)
  assert.deepEqual([state, receipts.length, code], ['pending', 1, 'unavailable'])
  assert.equal(nextAt, bed.clock.now() + 2000)
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
    const bed = await deliver(t, failing('rate-limited', { ...(retryAfter && { retryAfter }) }))
    const { nextAt, attempts } = await bed.untilDelivery(({ code }) => code === 'rate-limited')
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
    ...failing('forbidden', permanent),
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
    send: () => Promise.reject(permanentError('bad-request', quoting)),
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
        throw broken('bad-target', permanent)
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
    send: untilAborted,
    after: 30_000,
    code: 'TIMEOUT',
    reason: 'it may have arrived: the channel did not answer within 30 s',
  },
  'no answer within its own time': {
    send: untilAborted,
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
  const bed = await startTestBed(t, { deliveries: { retryForMs: 60_000 }, ...failing('unavailable') })
  bed.clock.advance(120_000)
  await bed.acceptRun({ deliver: true })
  for (let attempts = 1; attempts < 6; attempts += 1) {
    const waiting = await bed.untilDelivery((delivery) => delivery.attempts === attempts)
    if (attempts === 1) assert.equal(waiting.firstTriedAt, bed.clock.now())
    bed.clock.advance((waiting.nextAt ?? 0) - bed.clock.now())
  }
  const { attempts, reason, code, firstTriedAt } = await bed.untilDelivery(({ state }) => state === 'parked')
  assert.equal(reason, 'given up after 6 attempts in 1 min: the wall said unavailable')
  assert.deepEqual([attempts, code, firstTriedAt], [6, 'unavailable', undefined])
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

const forgetting = { channel: { idempotency: { windowMs: 60_000 } } }

test('a part that may have arrived is not sent by a later process once the channel has forgotten it', async (t) => {
  const bed = await deliver(t, { ...forgetting, ...failing('network', unsure) })
  await bed.tried(1)
  await bed.crash()
  bed.clock.advance(60_000)
  await bed.start()
  const { code, reason } = await bed.parked()
  assert.deepEqual([code, reason], ['network', 'it may have arrived: the wall said network'])
  assert.equal(bed.sending(), 1)
})

test('a part that may have arrived is not sent again once the channel has forgotten it', async (t) => {
  const failures = [broken('network', unsure), broken('rate-limited', { retryAfter: 60 })]
  const bed = await deliver(t, { ...forgetting, send: () => Promise.reject(failures.shift()) })
  await bed.tried(1)
  bed.clock.advance(2000)
  const { code, reason, unsureSince } = await bed.parked()
  assert.deepEqual([code, unsureSince], ['rate-limited', undefined])
  assert.equal(reason, 'it may have arrived: the wall said rate-limited')
})

test('one recipient gets replies in order while another is not kept waiting', async (t) => {
  let down = true
  const bed = await startTestBed(t, {
    async send(_part, { target }) {
      if (down && target.key === 'ada') throw broken('unavailable')
    },
  })
  const accept = async (prompt: string, to: string) => {
    const id = await bed.acceptRun({ deliver: true, prompt, to })
    await bed.untilState(id, 'succeeded')
    return id
  }
  await accept('first', 'Ada')
  const second = await accept('second', 'ADA')
  await bed.untilDelivered(await accept('other', 'Grace'))
  down = false
  bed.clock.advance(2000)
  await bed.untilDelivered(second)
  assert.deepEqual(bed.texts(), ['other', 'first', 'second'])
})

test('a channel that is not configured any more parks the delivery', async (t) => {
  const bed = await deliver(t, failing('unavailable'))
  await bed.tried(1)
  bed.removeChannel()
  bed.clock.advance(2000)
  assert.equal((await bed.parked()).code, 'NO_ROUTE')
})

test('a receipt that is not all data is stored as far as it is, and its part sent once', async (t) => {
  const answers = [
    { id: 'a', raw: () => {} },
    { id: 'b', count: 1n },
  ]
  const send = async () => answers.shift() as never
  const bed = await deliver(t, { channel: { send } }, { prompt: 'one|two' })
  const { receipts } = await bed.untilDelivery(({ state }) => state === 'delivered')
  assert.deepEqual([receipts, answers], [[{ id: 'a' }, { id: 'b' }], []])
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
