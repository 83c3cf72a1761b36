import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersLate, outcomesOf, startTestBed, untilAborted } from './test-bed.ts'

test('drain waits for a turn that ends within the grace', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await startTestBed(t, { run: () => promise })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  const drained = bed.dispatch.drain(30_000)
  resolve({ reply: 'just in time' })
  await drained
  assert.equal((await bed.read().run(id))?.state, 'succeeded')
})

test('a turn that outlasts the grace is interrupted, uncounted, and taken up by the next process', async (t) => {
  let answersAtOnce = false
  const bed = await startTestBed(t, {
    run: (turn, call) => (answersAtOnce ? Promise.resolve({ reply: 'ok' }) : untilAborted(turn, call)),
  })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  const drained = bed.dispatch.drain(10_000)
  bed.clock.advance(10_000)
  await drained
  const waiting = await bed.read().run(id)
  const attempts = [{ outcome: 'interrupted', reason: 'the gateway stopped before the turn ended' }]
  assert.partialDeepStrictEqual(waiting, { state: 'queued', attempts })
  answersAtOnce = true
  await bed.restart()
  const run = await bed.untilState(id, 'succeeded')
  assert.deepEqual(outcomesOf(run), ['interrupted', 'succeeded'])
})

test('a heartbeat that outlasts the grace leaves its events pending', async (t) => {
  const bed = await startTestBed(t, { run: untilAborted })
  await bed.ring('bell')
  await bed.untilAsked(1)
  await bed.dispatch.drain(0)
  const [heartbeat] = await bed.heartbeats()
  assert.deepEqual([heartbeat?.state, heartbeat?.error?.code], ['failed', 'INTERRUPTED'])
  assert.equal((await bed.read().events({ state: 'pending' })).items.length, 1)
})

test('a delivery whose part may be under way when the grace ends is parked, not doubled', async (t) => {
  const bed = await startTestBed(t, { send: untilAborted })
  await bed.acceptRun({ deliver: true })
  await bed.until(async () => bed.sending() === 1)
  await bed.dispatch.drain(0)
  const [delivery] = await bed.deliveries()
  assert.deepEqual([delivery?.state, delivery?.code], ['parked', 'INTERRUPTED'])
})

test('a receipt that comes while the channel is being stopped still counts', async (t) => {
  const bed = await startTestBed(t, { send: answersLate(undefined) })
  const id = await bed.acceptRun({ deliver: true })
  await bed.until(async () => bed.sending() === 1)
  await bed.dispatch.drain(0)
  assert.equal((await bed.read().run(id))?.stage, 'delivered')
})

test('nothing is claimed once a drain began', async (t) => {
  const bed = await startTestBed(t)
  await bed.dispatch.drain(0)
  const id = await bed.acceptRun()
  await bed.acceptEvent('a commit of its own')
  assert.equal((await bed.read().run(id))?.state, 'queued')
  assert.equal(bed.turns.length, 0)
})
