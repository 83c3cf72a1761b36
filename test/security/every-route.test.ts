import { test } from 'node:test'
import { holdEveryRoute } from './canary/every-route.ts'

test('no route, frame, page, metric or log line shows a configured secret, wherever and however it came', (t) =>
  holdEveryRoute(t, false))
