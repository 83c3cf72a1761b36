import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCookie, readCookie } from './cookie.ts'

test('a sign-in holds at nodes whose clocks are minutes behind or ahead, until it expires', () => {
  const at = Date.UTC(2026, 0, 15)
  const [minute, hour] = [60_000, 3_600_000]
  const { value, pageKey } = createCookie('a token', at)
  const holds = (now: number) => readCookie(value, pageKey, ['a token'], now) !== undefined
  for (const ms of [-5 * minute, -1, 0, 5 * minute, 12 * hour - 1]) assert.ok(holds(at + ms), `${ms}`)
  for (const ms of [-11 * minute, 12 * hour]) assert.ok(!holds(at + ms), `${ms}`)
})
