import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestBed, startTestBed } from './test-bed.ts'

const crashed = 'the process ended while the run was being performed'

test('a crash while the model is at work is recorded before the model is called again', async (t) => {
  let hang = true
  const bed = await startTestBed(t, {
    run: async (turn) => (hang ? new Promise<never>(() => {}) : { reply: turn.prompt }),
  })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  bed.clock.advance(25)
  const begun = await bed.untilRun(id, (run) => run.state === 'running')
  await bed.crash()
  hang = false
  await bed.start()
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')
  assert.deepEqual(
    run.attempts.map(({ number, outcome, reason }) => [number, outcome, reason]),
    [
      [1, 'interrupted', crashed],
      [2, 'succeeded', undefined],
    ],
  )
  assert.deepEqual([run.startedAt, bed.turns[0]?.attempt], [begun.startedAt, 2])
})

test('the reason is on disk before the model is called again', async (t) => {
  const bed = await startTestBed(t, { run: () => new Promise(() => {}) })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await bed.crash()
  await bed.start()
  await bed.untilAsked(1)
  const run = await bed.read().run(id)
  assert.deepEqual(
    run?.attempts.map(({ outcome }) => outcome),
    ['interrupted', undefined],
  )
})

test('a run that takes the process down ten times is given up', async (t) => {
  const bed = await openTestBed(t, { run: () => new Promise(() => {}) })
  const id = await bed.acceptRun({ timeoutSeconds: 600 })
  for (let life = 0; life < 10; life += 1) {
    await bed.start()
    await bed.untilAsked(1)
    await bed.crash()
  }
  await bed.start()
  const run = await bed.untilRun(id, (each) => each.state === 'failed')
  assert.deepEqual([run.error?.code, run.attempts.length, bed.turns.length], ['INTERRUPTED', 10, 0])
})

test('a crash does not give a run more time than it has', async (t) => {
  const bed = await startTestBed(t, { run: () => new Promise(() => {}) })
  const id = await bed.acceptRun({ timeoutSeconds: 60 })
  await bed.untilAsked(1)
  bed.clock.advance(25)
  await bed.untilRun(id, (run) => run.state === 'running')
  await bed.crash()
  bed.clock.advance(60_000)
  await bed.start()
  await bed.untilRun(id, (run) => run.state === 'timed-out')
  assert.equal(bed.turns.length, 0)
})

test('the last route and the history of a session survive a crash', async (t) => {
  const bed = await startTestBed(t)
  await bed.command({ type: 'set-route', route: { channel: 'wall', to: 'Hedy' } })
  const first = await bed.acceptRun({ sessionKey: 'pr:1', prompt: 'one' })
  await bed.untilRun(first, (run) => run.stage === 'delivered')
  await bed.crash()
  await bed.start()
  const second = await bed.acceptRun({
    sessionKey: 'pr:1',
    prompt: 'two',
    deliver: true,
    channel: 'last',
    to: undefined,
  })
  await bed.untilRun(second, (run) => run.stage === 'delivered')
  assert.deepEqual([bed.turns[0]?.history.length, bed.sent[0]?.to], [2, 'Hedy'])
})
