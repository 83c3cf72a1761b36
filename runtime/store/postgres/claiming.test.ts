import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgenda } from './claiming.ts'

test('a rest that ends between two looks at the clock is over at once, and no time is negative', () => {
  let time = 0
  let step = 0
  const agenda = createAgenda(() => {
    time += step
    return time
  })
  agenda.armed([{ kind: 'run', pool: 'a', due_at: 1, seq: 1 }])
  agenda.raise([{ kind: 'run', pool: 'a', first: { due_at: 1, seq: 1 }, claimedFrom: undefined, rest: 25 }])
  step = 20
  assert.equal(agenda.restMs(), 0)
})
