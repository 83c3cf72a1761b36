import assert from 'node:assert/strict'
import { test } from 'node:test'
import { never, openTestBed, startTestBed } from './test-bed.ts'

test('a run that takes the process down ten times is given up', async (t) => {
  const bed = await openTestBed(t, { run: never })
  const id = await bed.acceptRun({ timeoutSeconds: 600 })
  for (let life = 0; life < 10; life += 1) {
    await bed.start()
    await bed.untilAsked(1)
    await bed.crash()
  }
  await bed.start()
  const run = await bed.untilState(id, 'failed')
  assert.deepEqual([run.error?.code, run.attempts.length, bed.turns.length], ['INTERRUPTED', 10, 0])
})

test('a crash does not give a run more time than it has', async (t) => {
  const bed = await startTestBed(t, { run: never })
  const id = await bed.acceptRun({ timeoutSeconds: 60 })
  await bed.untilAsked(1)
  bed.clock.advance(25)
  await bed.untilState(id, 'running')
  await bed.crash()
  bed.clock.advance(60_000)
  await bed.start()
  await bed.untilState(id, 'timed-out')
  assert.equal(bed.turns.length, 0)
})
