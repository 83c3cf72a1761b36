import { test } from 'node:test'
import { holdEveryRoute } from './canary/every-route.ts'

test('no route, frame, page, metric or log line shows any configured secret in any encoding', (t) =>
  holdEveryRoute(t, true))
