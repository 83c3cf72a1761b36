import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentOf, requestFilterQuery } from './request-filters.ts'

const now = Date.UTC(2026, 2, 2, 12)

test('a span is counted back from now, and a date or a time is one of the clock on the wall', () => {
  for (const [text, at] of [
    ['30s', now - 30_000],
    ['30m', now - 1_800_000],
    ['8h', now - 28_800_000],
    ['7d', now - 604_800_000],
    ['2w', now - 1_209_600_000],
    ['2026-01-31', new Date(2026, 0, 31).getTime()],
    ['2026-01-31 08:00', new Date(2026, 0, 31, 8).getTime()],
    ['2026-01-31T08:00:30', new Date(2026, 0, 31, 8, 0, 30).getTime()],
    ['2026-01-31T08:00Z', Date.UTC(2026, 0, 31, 8)],
    ['2026-01-31T08:00+02:00', Date.UTC(2026, 0, 31, 6)],
  ] as const)
    assert.equal(momentOf('--since', text, now), at, text)
  for (const text of ['', '8', 'h', '8 hours', 'yesterday', '2026-13-01', '31.1.2026', '2026-01-31T25:00'])
    assert.throws(
      () => momentOf('--since', text, now),
      { exitCode: 2, message: /^--since takes a span/ },
      text,
    )
})

test('filters are named as the API names them, and those that are not given are left out', () => {
  assert.deepEqual(
    requestFilterQuery(
      { delivery: 'd', since: '1h', generation: { generation: 3 }, node: 'a' },
      { now: () => now },
    ),
    {
      deliveryId: 'd',
      generation: 3,
      node: 'a',
      since: new Date(now - 3_600_000).toISOString(),
    },
  )
})
