/**
 * Puts a canary in every place of a request or the configuration that can hold a secret, sends requests to every
 * outcome, and searches everything that the gateway says or writes for the canaries.
 */

import { test } from 'node:test'
import { holdCanaries } from './canary/run.ts'

test('no secret appears in logs, answers, the admin API, commands, files or file names', (t) =>
  holdCanaries(t, false))
