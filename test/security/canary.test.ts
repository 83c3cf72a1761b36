/**
 * Wherever a request or the configuration can hold a secret stands a canary, and requests come to every end that they can
 * come to. Then whatever the gateway says or writes is searched for them.
 */

import { test } from 'node:test'
import { holdCanaries } from './canary/run.ts'

test('no secret appears in logs, answers, the admin API, commands, files or file names', (t) =>
  holdCanaries(t, false))
