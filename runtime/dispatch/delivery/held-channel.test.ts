/** Tests of the deliveries of channels that are held, paced or checked. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type Channel, type ChannelHealth, PluginError } from '@reveille/kit'
import type { DeliveryRecord } from '../../store/port.ts'
import { openTestBed, type Setting, startTestBed, type TestBed } from '../test-bed.ts'

const broken = (code: string, facts: Partial<PluginError> = {}) =>
  new PluginError(`the wall said ${code}`, { code, retryable: true, ...facts })

const refused = () => broken('bad-credential', { wholeService: true })

/** Accepts runs that make one delivery each, and waits until all deliveries are on record. */
async function acceptEach(bed: TestBed, ...recipients: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const to of recipients) ids.push(await bed.acceptRun({ deliver: true, to, prompt: `for ${to}` }))
  for (const id of ids) await bed.untilRun(id, ({ stage }) => stage === 'summarised' || stage === 'delivered')
  return ids
}

const untilSome = (bed: TestBed, holds: (delivery: DeliveryRecord) => boolean) =>
  bed.until(async () => (await bed.deliveries()).find(holds))

const stateOf = (bed: TestBed) => bed.channelStates().find(({ channel }) => channel === 'wall')

test('while a channel is held its deliveries are neither claimed nor written, and none of them is an attempt', async (t) => {
  const bed = await startTestBed(t, {
    async send() {
      throw refused()
    },
  })
  await acceptEach(bed, 'Ada')
  const met = await untilSome(bed, ({ code }) => code === 'bad-credential')
  assert.deepEqual(
    [met.state, met.attempts, met.nextAt, stateOf(bed)?.until],
    ['pending', 0, bed.clock.now() + 60_000, bed.clock.now() + 60_000],
  )
  await acceptEach(bed, 'Bob', 'Cleo', 'Dora', 'Emil', 'Fay')
  const before = bed.commits()
  bed.clock.advance(59_999)
  assert.deepEqual([bed.commits() - before, bed.sending(), stateOf(bed)?.state], [0, 1, 'held'])
  assert.equal(bed.log('delivery-retried').filter(({ level }) => level === 'warn').length, 0)
  assert.equal(bed.log('channel-held').length, 1)
})

test('after a reload that fixes the channel everything is sent at once, in order', async (t) => {
  let isFixed = false
  const bed = await startTestBed(t, {
    async send() {
      if (!isFixed) throw refused()
    },
  })
  const first = await acceptEach(bed, 'Ada')
  await untilSome(bed, ({ code }) => code === 'bad-credential')
  const ids = [...first, ...(await acceptEach(bed, 'Bob', 'Cleo', 'Bob', 'Ada'))]
  isFixed = true
  await bed.reload()
  assert.equal(stateOf(bed)?.state, 'held', 'a reload of something else fixes nothing')
  bed.reconfigureChannel('wall')
  await bed.reload()
  for (const id of ids) await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual(bed.sent.map(({ to }) => to).toSorted(), ['Ada', 'Ada', 'Bob', 'Bob', 'Cleo'])
  assert.deepEqual([stateOf(bed)?.state, bed.log('channel-opened').length], ['open', 1])
})

test('a task of an earlier version, which has no pool, waits for its channel too', async (t) => {
  let isFixed = false
  const bed = await startTestBed(t, {
    async send() {
      if (!isFixed) throw refused()
    },
  })
  await acceptEach(bed, 'Ada')
  const { id: _id, runId: _run, ...met } = await untilSome(bed, ({ code }) => code === 'bad-credential')
  const id = '019b76da-ffff-7000-8000-000000000001'
  const task = { key: `delivery:${id}`, kind: 'delivery', subject: id, dueAt: bed.clock.now() } as const
  await bed.command({ type: 'send', delivery: { ...met, id, to: 'Bob' }, task })
  // Cleo's delivery is performed after Bob's has been considered.
  await acceptEach(bed, 'Cleo')
  assert.equal(bed.sending(), 1)
  isFixed = true
  bed.clock.advance(60_000)
  await bed.until(async () => bed.sent.length === 3)
  assert.deepEqual(bed.sent.map(({ to }) => to).toSorted(), ['Ada', 'Bob', 'Cleo'])
})

test('deliveries of a channel with a refused credential are parked when their retry window is over', async (t) => {
  const bed = await startTestBed(t, {
    deliveries: { retryForMs: 120_000 },
    async send() {
      throw refused()
    },
  })
  await acceptEach(bed, 'Ada')
  for (const probes of [1, 2]) {
    await bed.until(async () => bed.sending() === probes && stateOf(bed)?.state === 'held')
    await untilSome(bed, ({ nextAt }) => nextAt === stateOf(bed)?.until)
    bed.clock.advance((stateOf(bed)?.until ?? 0) - bed.clock.now())
  }
  const { reason, attempts } = await untilSome(bed, ({ state }) => state === 'parked')
  assert.deepEqual([reason, attempts], ['given up after 2 min: the wall said bad-credential', 0])
})

test('a permanent failure of the whole channel holds the channel', async (t) => {
  const bed = await startTestBed(t, {
    async send() {
      throw broken('forbidden', { retryable: false, wholeService: true })
    },
  })
  await acceptEach(bed, 'Ada')
  const { state } = await untilSome(bed, ({ code }) => code === 'forbidden')
  assert.deepEqual([state, stateOf(bed)?.state], ['pending', 'held'])
})

const paced = (limits: Partial<Channel['limits']>): Setting => ({
  channel: { limits: { part: 1000, unit: 'utf16', ...limits } },
})

test('the parts of a reply keep the pace of their target, are sent once each, and hold no place meanwhile', async (t) => {
  const bed = await startTestBed(t, paced({ perTarget: { count: 1, ms: 3000 } }))
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two|three' })
  for (const parts of [1, 2]) {
    const waiting = await untilSome(
      bed,
      ({ receipts, nextAt }) => receipts.length === parts && nextAt !== undefined,
    )
    await bed.until(async () => bed.sent.length === parts)
    assert.deepEqual([waiting.nextAt, waiting.attempts], [bed.clock.now() + 3000, 0])
    bed.clock.advance(3000)
  }
  await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual(
    bed.sent.map(({ text }) => text),
    ['one', 'two', 'three'],
  )
})

test('a short wait for the pace is waited on the spot', async (t) => {
  const bed = await startTestBed(t, paced({ perTarget: { count: 1, ms: 200 } }))
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await untilSome(bed, ({ receipts }) => receipts.length === 1)
  while (bed.sent.length < 2) {
    bed.clock.advance(200)
    await yieldToEventLoop()
  }
  await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.equal((await bed.deliveries())[0]?.nextAt, undefined)
})

test('the pace of a whole channel is kept over all its targets, in the order of the replies', async (t) => {
  const bed = await startTestBed(t, paced({ overall: { count: 2, ms: 60_000 } }))
  const names = ['Ada', 'Bob', 'Cleo', 'Dora', 'Emil']
  await acceptEach(bed, ...names)
  for (const sent of [2, 4]) {
    await bed.until(async () => bed.sent.length === sent)
    bed.clock.advance(59_999)
    assert.equal(bed.sent.length, sent)
    bed.clock.advance(1)
  }
  await bed.until(async () => (await bed.deliveries()).every(({ state }) => state === 'delivered'))
  assert.deepEqual(bed.sent.map(({ to }) => to).toSorted(), names)
  assert.equal(stateOf(bed)?.state, 'open')
})

/** A channel with a check whose result the test sets. */
function checked(check: (signal: AbortSignal) => Promise<ChannelHealth>): Setting {
  return { channel: { check } }
}

test('a channel is checked at the start and when its configuration changes, and no delivery waits for that', async (t) => {
  const answers: ((health: ChannelHealth) => void)[] = []
  const bed = await openTestBed(
    t,
    checked(() => new Promise((resolve) => answers.push(resolve))),
  )
  await bed.start()
  const [id = ''] = await acceptEach(bed, 'Ada')
  await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual([answers.length, stateOf(bed)?.health], [1, undefined])

  answers[0]?.({ ok: true, detail: 'known as @reveille' })
  await bed.until(async () => stateOf(bed)?.health)
  assert.deepEqual(stateOf(bed)?.health, { ok: true, detail: 'known as @reveille', at: bed.clock.now() })
  assert.equal(bed.log('channel-checked')[0]?.['detail'], 'known as @reveille')

  await bed.reload()
  assert.equal(answers.length, 1, 'a channel that goes on as it was is not asked')
  bed.reconfigureChannel('wall')
  await bed.reload()
  assert.deepEqual(
    [answers.length, stateOf(bed)?.health],
    [2, undefined],
    'what it said was of another credential',
  )
  answers[1]?.({ ok: false, detail: 'the token is revoked' })
  await bed.until(async () => stateOf(bed)?.health)
  assert.deepEqual(
    [stateOf(bed)?.state, bed.log('channel-check-failed')[0]?.['reason']],
    ['open', 'the token is revoked'],
  )
})
