/** Tests of the deliveries of channels that are held, paced or checked. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Channel, ChannelHealth } from '@reveille/kit'
import { broken, type Setting, startTestBed, type TestBed } from '../test-bed.ts'

/** A bed whose channel is held since it refused a message to Ada, until `repair` is called. */
async function startHeld(t: TestContext, code = 'bad-credential', setting: Setting = {}) {
  let isRepaired = false
  const refused = broken(code, { wholeService: true, retryable: code === 'bad-credential' })
  const send = async () => {
    if (!isRepaired) throw refused
  }
  const bed = await startTestBed(t, { ...setting, send })
  const [first = ''] = await acceptEach(bed, 'Ada')
  const met = await bed.untilDelivery((delivery) => delivery.code === code)
  const repair = () => {
    isRepaired = true
  }
  return { ...bed, first, met, repair }
}

/** Accepts runs that make one delivery each, and waits until all deliveries are on record. */
async function acceptEach(bed: TestBed, ...recipients: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const to of recipients) ids.push(await bed.acceptRun({ deliver: true, to, prompt: `for ${to}` }))
  for (const id of ids) await bed.untilRun(id, ({ stage }) => stage === 'summarised' || stage === 'delivered')
  return ids
}

const stateOf = (bed: Pick<TestBed, 'channelStates'>) =>
  bed.channelStates().find(({ channel }) => channel === 'wall')

for (const code of ['bad-credential', 'forbidden'])
  test(`while a channel is held for ${code} its deliveries are neither claimed nor written, and none of them is an attempt`, async (t) => {
    const { met, ...bed } = await startHeld(t, code)
    assert.deepEqual([met.state, met.attempts], ['pending', 0])
    const until = bed.clock.now() + 60_000
    assert.deepEqual([met.nextAt, stateOf(bed)?.until], [until, until])
    await acceptEach(bed, 'Bob', 'Cleo', 'Dora', 'Emil', 'Fay')
    const before = bed.commits()
    bed.clock.advance(59_999)
    assert.deepEqual([bed.commits() - before, bed.sending(), stateOf(bed)?.state], [0, 1, 'held'])
    assert.equal(bed.log('delivery-retried').filter(({ level }) => level === 'warn').length, 0)
    assert.equal(bed.log('channel-held').length, 1)
  })

test('after a reload that fixes the channel everything is sent at once, in order', async (t) => {
  const bed = await startHeld(t)
  const ids = [bed.first, ...(await acceptEach(bed, 'Bob', 'Cleo', 'Bob', 'Ada'))]
  bed.repair()
  await bed.reload()
  assert.equal(stateOf(bed)?.state, 'held', 'a reload of something else fixes nothing')
  bed.reconfigureChannel('wall')
  await bed.reload()
  for (const id of ids) await bed.untilDelivered(id)
  assert.deepEqual(bed.recipients(), ['Ada', 'Ada', 'Bob', 'Bob', 'Cleo'])
  assert.deepEqual([stateOf(bed)?.state, bed.log('channel-opened').length], ['open', 1])
})

test('deliveries of a channel with a refused credential are parked when their retry window is over', async (t) => {
  const bed = await startHeld(t, 'bad-credential', { deliveries: { retryForMs: 120_000 } })
  for (const probes of [1, 2]) {
    await bed.until(async () => bed.sending() === probes && stateOf(bed)?.state === 'held')
    await bed.untilDelivery(({ nextAt }) => nextAt === stateOf(bed)?.until)
    bed.clock.advance((stateOf(bed)?.until ?? 0) - bed.clock.now())
  }
  const { reason, attempts } = await bed.untilDelivery(({ state }) => state === 'parked')
  assert.deepEqual([reason, attempts], ['given up after 2 min: the wall said bad-credential', 0])
})

const paced = (limits: Partial<Channel['limits']>): Setting => ({
  channel: { limits: { part: 1000, unit: 'utf16', ...limits } },
})

test('the parts of a reply keep the pace of their target, are sent once each, and hold no place meanwhile', async (t) => {
  const bed = await startTestBed(t, paced({ perTarget: { count: 1, ms: 3000 } }))
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two|three' })
  for (const parts of [1, 2]) {
    const waiting = await bed.untilDelivery(
      ({ receipts, nextAt }) => receipts.length === parts && nextAt !== undefined,
    )
    await bed.until(async () => bed.sent.length === parts)
    assert.deepEqual([waiting.nextAt, waiting.attempts], [bed.clock.now() + 3000, 0])
    bed.clock.advance(3000)
  }
  await bed.untilDelivered(id)
  assert.deepEqual(bed.texts(), ['one', 'two', 'three'])
})

test('a short wait for the pace is waited on the spot', async (t) => {
  const bed = await startTestBed(t, paced({ perTarget: { count: 1, ms: 200 } }))
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await bed.untilDelivery(({ receipts }) => receipts.length === 1)
  while (bed.sent.length < 2) {
    bed.clock.advance(200)
    await yieldToEventLoop()
  }
  await bed.untilDelivered(id)
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
  assert.deepEqual(bed.recipients(), names)
  assert.equal(stateOf(bed)?.state, 'open')
})

test('a channel is checked at the start and when its configuration changes, and no delivery waits for that', async (t) => {
  const answers: ((health: ChannelHealth) => void)[] = []
  const check = () => new Promise<ChannelHealth>((resolve) => answers.push(resolve))
  const bed = await startTestBed(t, { channel: { check } })
  const [id = ''] = await acceptEach(bed, 'Ada')
  await bed.untilDelivered(id)
  assert.deepEqual([answers.length, stateOf(bed)?.health], [1, undefined])

  answers[0]?.({ ok: true, detail: 'known as @reveille' })
  await bed.until(async () => stateOf(bed)?.health)
  assert.deepEqual(stateOf(bed)?.health, { ok: true, detail: 'known as @reveille', at: bed.clock.now() })
  assert.equal(bed.log('channel-checked')[0]?.['detail'], 'known as @reveille')

  await bed.reload()
  assert.equal(answers.length, 1, 'a channel that goes on as it was is not asked')
  bed.reconfigureChannel('wall')
  await bed.reload()
  assert.equal(answers.length, 2)
  assert.equal(stateOf(bed)?.health, undefined, 'what it said was of another credential')
  answers[1]?.({ ok: false, detail: 'the token is revoked' })
  await bed.until(async () => stateOf(bed)?.health)
  assert.equal(stateOf(bed)?.state, 'open')
  assert.equal(bed.log('channel-check-failed')[0]?.['reason'], 'the token is revoked')
})
