import { test } from 'node:test'
import { holdCanaries } from './canary/run.ts'

test('no secret appears in any output of any command', (t) => holdCanaries(t, true))
