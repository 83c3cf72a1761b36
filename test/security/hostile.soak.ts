import { test } from 'node:test'
import { holdAgainstHostility } from './hostile/run.ts'

test('no body holds the main thread for more than 50 ms, whatever mapping it meets', (t) =>
  holdAgainstHostility(t, { stride: 1, maxHoldMs: 50 }))
