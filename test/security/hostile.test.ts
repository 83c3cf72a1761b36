import { test } from 'node:test'
import { assertSurvivesHostility } from './hostile/run.ts'

test('no body holds the main thread for long, ends the gateway or fails it, whatever mapping it meets', (t) =>
  assertSurvivesHostility(t, { stride: 311, maxHoldMs: 150 }))
