import { test } from 'node:test'
import { assertSurvivesFuzz } from './fuzz/run.ts'

test('of two and a half thousand random requests each complete one is answered once, valid ones are accepted, and the heap does not fill', (t) =>
  assertSurvivesFuzz(t, { firstSeed: 1, count: 2_500, maxHoldMs: 150 }))
