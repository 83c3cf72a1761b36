import { test } from 'node:test'
import { holdAgainstFuzz } from './fuzz/run.ts'

test('two and a half thousand requests of all kinds: each that is whole is answered once, good ones as ever, and nothing breaks or grows', (t) =>
  holdAgainstFuzz(t, { firstSeed: 1, count: 2_500, longestHold: 150 }))
