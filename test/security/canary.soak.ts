import { test } from 'node:test'
import { holdCanaries } from './canary/run.ts'

test('no canary sings in any form of any command', (t) => holdCanaries(t, true))
