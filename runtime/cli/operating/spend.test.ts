import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGatewayCommands } from '../io-fixture.ts'

const answer = {
  by: 'mapping',
  since: '2026-02-01',
  until: '2026-03-02',
  items: [
    { name: 'review', runs: 1200, tokens: 2_200_000, usd: 36.125, unpriced: 0 },
    { name: '', runs: 3, tokens: 40, usd: 0.00123, unpriced: 2 },
  ],
  next: '2',
  today: {
    day: '2026-03-02',
    usd: 3.6,
    budgets: [{ key: 'agents.budget', limit: { usd: 5 }, runs: 2, tokens: 9, usd: 3.6, isSpent: false }],
  },
  month: { month: '2026-03', usd: 7, projectedUsd: 110.5, unpriced: 2 },
  pricesOf: '2026-11-23',
}

test('costs are a table, followed by today, its budgets and the month', async (t) => {
  const { run, asked } = await createGatewayCommands(t, () => answer)
  const { code, out, err } = await run('spend', '--by', 'mapping', '--since', '2026-02-01', '--limit', '2')
  assert.equal(code, 0)
  assert.deepEqual(asked, [{ route: 'GET /api/spend?by=mapping&since=2026-02-01&limit=2', body: {} }])
  assert.match(out, /^MAPPING +USD +TOKENS +RUNS +WITHOUT PRICE\s*$/m)
  assert.match(out, /^review +\$36\.13 +2,200,000 +1,200\s*$/m)
  assert.match(out, /^\(none\) +\$0\.0012 +40 +3 +2\s*$/m)
  assert.match(out, /^today +\$3\.60\n +agents\.budget 3\.6 of 5 USD$/m)
  assert.match(out, /^2026-03 +\$7\.00 so far, \$110\.50 if the rest is like the last seven days$/m)
  assert.match(out, /without 2 turns whose cost is not known/)
  assert.match(err, /--cursor 2/)
})

test('nothing spent is a sentence, --json the answer, and a wrong day or group is refused', async (t) => {
  const { run } = await createGatewayCommands(t, () => ({ ...answer, items: [], next: undefined }))
  assert.match((await run('spend')).out, /^Nothing was spent from 2026-02-01 to 2026-03-02 \(UTC\)\.$/m)
  assert.equal(JSON.parse((await run('spend', '--json')).out).month.usd, 7)
  assert.equal((await run('spend', '--since', '8h')).code, 2)
  assert.equal((await run('spend', '--by', 'colour')).code, 2)
})
