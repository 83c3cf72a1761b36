import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError, type Turn, type TurnCall } from '@reveille/kit'
import { openTestBed, startTestBed, type TestBed } from '../test-bed.ts'

const untilAborted = (_turn: Turn, { signal }: TurnCall) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

async function cancel(bed: TestBed, run: string) {
  assert.deepEqual(await bed.command({ type: 'cancel', run, at: bed.clock.now() }), { ok: true })
}

test('a run that is cancelled while its model is at work ends at once, with a summary and without a trace in its session', async (t) => {
  const bed = await startTestBed(t, { run: untilAborted })
  const id = await bed.acceptRun({ name: 'Reviewer', sessionKey: 'pr:1', deliver: true })
  await bed.untilAsked(1)
  await cancel(bed, id)
  const run = await bed.untilRun(id, ({ state }) => state === 'cancelled')
  assert.deepEqual(
    [run.stage, run.error?.code, run.error?.retryable, run.attempts[0]?.outcome, run.attempts[0]?.reason],
    ['summarised', 'CANCELLED', false, 'cancelled', 'the run was cancelled'],
  )
  const [summary] = await bed.events()
  assert.equal(summary?.text, 'Hook Reviewer (error): the run was cancelled')
  assert.deepEqual([await bed.deliveries(), await bed.read().session('pr:1')], [[], undefined])
  assert.equal(bed.log('run-cancelled').length, 1)
})

test('a runner that ignores a cancel is abandoned', async (t) => {
  const bed = await startTestBed(t, { run: () => new Promise(() => {}) })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await cancel(bed, id)
  await bed.until(async () => {
    bed.clock.advance(1000)
    return (await bed.read().run(id))?.state === 'cancelled'
  })
})

test('the next run of the session goes on after one that was cancelled', async (t) => {
  const bed = await startTestBed(t, {
    run: (turn, call) =>
      turn.prompt === 'one' ? untilAborted(turn, call) : Promise.resolve({ reply: 'ok' }),
  })
  const first = await bed.acceptRun({ sessionKey: 'pr:1', prompt: 'one' })
  const second = await bed.acceptRun({ sessionKey: 'pr:1', prompt: 'two' })
  await bed.untilAsked(1)
  await cancel(bed, first)
  await bed.untilRun(second, ({ state }) => state === 'succeeded')
})

test('a cancel before a crash is found by the next process, and no model is called', async (t) => {
  const bed = await startTestBed(t, { run: () => new Promise(() => {}) })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await cancel(bed, id)
  await bed.crash()
  await bed.start()
  const run = await bed.untilRun(id, ({ state }) => state === 'cancelled')
  assert.deepEqual([run.stage, run.attempts[0]?.outcome, bed.turns.length], ['summarised', 'interrupted', 0])
  assert.equal((await bed.events())[0]?.text, 'Hook github (error): the run was cancelled')
})

test('an answer that is on its way to the disk wins over a cancel that comes later', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await startTestBed(t, { run: () => promise })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  resolve({ reply: 'done' })
  await bed.command({ type: 'cancel', run: id, at: bed.clock.now() })
  const run = await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual([run.state, run.reply], ['succeeded', 'done'])
})

test('a run that waits for another attempt is cancelled without one', async (t) => {
  const bed = await startTestBed(t, {
    async run() {
      throw new PluginError('overloaded', { code: 'unavailable', retryable: true })
    },
  })
  const id = await bed.acceptRun()
  await bed.untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1)
  await cancel(bed, id)
  bed.clock.advance(60_000)
  const run = await bed.untilRun(id, ({ state }) => state === 'cancelled')
  assert.deepEqual([run.attempts.length, bed.turns.length], [1, 1])
})

test('a cancel that comes while a failed attempt is written ends the run before another attempt', async (t) => {
  const cancel = new AbortController()
  const bed = await openTestBed(t, {
    async run() {
      bed.clock.advance(25)
      throw new PluginError('overloaded', { code: 'unavailable', retryable: true })
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
    checkpoint: async () => cancel.abort(),
  })
  assert.deepEqual(['done' in settlement, settlement.effects.run?.state], [true, 'cancelled'])
})
