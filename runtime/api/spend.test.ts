import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayMs, dayOf } from '../store/day.ts'
import type { Cost, CostOptions } from '../store/port.ts'
import { readSpend } from './spend.ts'

/** A store that has spent this many dollars on each day, the last of which is today. */
function spendOf(at: number, perDay: readonly number[], query: Partial<CostOptions> = {}) {
  const asked: CostOptions[] = []
  const days = perDay.map((usd, index): Cost => {
    const name = dayOf(at - (perDay.length - 1 - index) * dayMs)
    return { name, usd, runs: 1, tokens: 10, unpriced: usd === 0 ? 1 : 0 }
  })
  const store = {
    read: {
      async costs(options: CostOptions) {
        asked.push(options)
        const { since = '', until = '9' } = options
        return { items: days.filter(({ name }) => name >= since && name <= until).toReversed() }
      },
      spent: async () => ({
        day: dayOf(at),
        all: { runs: 1, tokens: 10, usd: perDay.at(-1) ?? 0 },
        budgets: {},
      }),
    },
  }
  const current = () => ({ generation: 1, snapshot: { settings: { agents: {} }, endpoints: {} } })
  return readSpend({ store, current, now: () => at } as never, query).then((answer) => ({ answer, asked }))
}

test('without a period the last 30 days are listed, by day', async () => {
  const at = Date.UTC(2026, 2, 10, 12)
  const { answer, asked } = await spendOf(at, [1, 2])
  assert.deepEqual([answer.by, answer.since, answer.until], ['day', '2026-02-09', '2026-03-10'])
  assert.deepEqual(
    answer.items.map(({ usd }) => usd),
    [2, 1],
  )
  assert.deepEqual(asked[0], { by: 'day', since: '2026-02-09', until: '2026-03-10' })
  assert.equal(answer.today.usd, 2)
})

test('the month is projected by the last seven days, those of the month before included', async () => {
  // The 2nd of April at noon: 28.5 days are left, and the six and a half days since the 27th of March cost $70.
  const at = Date.UTC(2026, 3, 2, 12)
  const { month } = (await spendOf(at, Array(10).fill(10))).answer
  assert.deepEqual([month.month, month.usd], ['2026-04', 20])
  assert.equal(month.projectedUsd, 326.92)
})

test('a gateway that began to spend a moment ago is projected by at least a whole day', async () => {
  const at = Date.UTC(2026, 3, 15, 0, 1)
  const { month } = (await spendOf(at, [3])).answer
  assert.equal(month.usd, 3)
  assert.ok(month.projectedUsd > 3 && month.projectedUsd <= 3 + 16 * 3, String(month.projectedUsd))
  assert.equal((await spendOf(at, [])).answer.month.projectedUsd, 0)
})

test('turns of the month without a price are counted', async () => {
  const { month } = (await spendOf(Date.UTC(2026, 3, 15), [5, 0, 0])).answer
  assert.deepEqual([month.usd, month.unpriced], [5, 2])
})
