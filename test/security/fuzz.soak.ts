import { test } from 'node:test'
import { assertSurvivesFuzz } from './fuzz/run.ts'

test('fifty thousand random requests, new ones in each run, block the event loop for at most 50 ms', (t) => {
  const firstSeed = Date.now() % 1_000_000_000
  t.diagnostic(`the first seed is ${firstSeed}`)
  return assertSurvivesFuzz(t, { firstSeed, count: 50_000, maxHoldMs: 50 })
})
