import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { broken, never, openTestBed, outcomesOf, startTestBed, untilAborted } from '../test-bed.ts'

test('a run that is cancelled while its model is at work ends at once, with a summary, and its session goes on without it', async (t) => {
  const bed = await startTestBed(t, {
    run: async (turn, call) => (turn.prompt === 'one' ? untilAborted(turn, call) : { reply: 'ok' }),
  })
  const id = await bed.acceptRun({ name: 'Reviewer', sessionKey: 'pr:1', prompt: 'one', deliver: true })
  await bed.untilAsked(1)
  assert.deepEqual(await bed.cancel(id), { ok: true })
  const run = await bed.untilState(id, 'cancelled')
  const attempts = [{ outcome: 'cancelled', reason: 'the run was cancelled' }]
  const error = { code: 'CANCELLED', retryable: false }
  assert.partialDeepStrictEqual(run, { stage: 'summarised', error, attempts })
  const [summary] = await bed.events()
  assert.equal(summary?.text, 'Hook Reviewer (error): the run was cancelled')
  assert.deepEqual([await bed.deliveries(), await bed.read().session('pr:1')], [[], undefined])
  assert.equal(bed.log('run-cancelled').length, 1)
  await bed.untilState(await bed.acceptRun({ sessionKey: 'pr:1' }), 'succeeded')
})

test('a cancel before a crash is found by the next process, and no model is called', async (t) => {
  const bed = await startTestBed(t, { run: never })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await bed.cancel(id)
  await bed.crash()
  await bed.start()
  const run = await bed.untilState(id, 'cancelled')
  assert.deepEqual([run.stage, outcomesOf(run), bed.turns.length], ['summarised', ['interrupted'], 0])
  assert.equal((await bed.events())[0]?.text, 'Hook github (error): the run was cancelled')
})

test('an answer that is on its way to the disk wins over a cancel that comes later', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await startTestBed(t, { run: () => promise })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  resolve({ reply: 'done' })
  await bed.cancel(id)
  const run = await bed.untilDelivered(id)
  assert.deepEqual([run.state, run.reply], ['succeeded', 'done'])
})

test('a run that waits for another attempt is cancelled without one', async (t) => {
  const bed = await startTestBed(t, { run: () => Promise.reject(broken('unavailable')) })
  const id = await bed.acceptRun()
  await bed.untilRetried(id)
  await bed.cancel(id)
  bed.clock.advance(60_000)
  const run = await bed.untilState(id, 'cancelled')
  assert.deepEqual([run.attempts.length, bed.turns.length], [1, 1])
})

test('a cancel that comes while a failed attempt is written ends the run before another attempt', async (t) => {
  const cancel = new AbortController()
  const bed = await openTestBed(t, {
    async run() {
      bed.clock.advance(25)
      throw broken('unavailable')
    },
  })
  const id = await bed.acceptRun()
  const run = await bed.read().run(id)
  const settlement = await bed.performer('run')({
    task: { key: id, kind: 'run', dueAt: 0, attempt: 1, claims: 1, interrupted: false },
    lease: new AbortController().signal,
    cancel: cancel.signal,
    load: async () => ({ run, history: [], events: [], pending: { all: 0, now: 0 } }),
    confirm: async () => {},
    async checkpoint() {
      await yieldToEventLoop()
      cancel.abort()
    },
  })
  assert.deepEqual(['done' in settlement, settlement.effects.run?.state], [true, 'cancelled'])
})
