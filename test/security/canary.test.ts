/**
 * Wherever a request or the configuration can hold a secret stands a canary, and requests come to every end that they can
 * come to. Then whatever the gateway says or writes is searched for them.
 */

import { test } from 'node:test'
import { holdCanaries } from './canary/run.ts'

test('no canary sings: not in logs, answers, the admin surface, commands, on the disk or in the name of a file', (t) =>
  holdCanaries(t, false))
