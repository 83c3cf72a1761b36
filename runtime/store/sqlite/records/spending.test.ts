import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from '../database/migrations.ts'
import { createCostPruning, createCostReader, createSpending } from './spending.ts'

const now = Date.UTC(2026, 5, 30)

test('old days lose the names of their sessions and keep their sums; days of more than a year ago go', (t) => {
  const db = new DatabaseSync(':memory:')
  t.after(() => db.close())
  migrate(db)
  const spend = createSpending(db)
  const of = { mapping: 'review', model: 'm' }
  for (const day of ['2025-01-01', '2026-06-01', '2026-06-29'])
    for (const session of ['a', 'b', undefined])
      spend({ day, runs: 1, tokens: 2, usd: 0.5, of: { ...of, ...(session !== undefined && { session }) } })
  const prune = createCostPruning(db)
  prune('2026-06-20', now)
  prune('2026-06-20', now)
  const read = createCostReader(db)
  const sum = { runs: 3, tokens: 6, usd: 1.5, unpriced: 0 }
  assert.deepEqual(read({ by: 'day' }, 10, 0), [
    { name: '2026-06-29', ...sum },
    { name: '2026-06-01', ...sum },
  ])
  const sessions = read({ by: 'session' }, 10, 0).map(({ name, usd }) => [name, usd])
  assert.deepEqual(sessions, [
    ['', 2],
    ['a', 0.5],
    ['b', 0.5],
  ])
  prune('2026-06-30', now)
  assert.deepEqual(
    read({ by: 'session' }, 10, 0).map(({ name, usd }) => [name, usd]),
    [['', 3]],
  )
})
