import { test } from 'node:test'
import { assertSurvivesHostility } from './hostile/run.ts'

test('no body holds the main thread for more than 50 ms, for any mapping', (t) =>
  assertSurvivesHostility(t, { stride: 1, maxHoldMs: 50 }))
