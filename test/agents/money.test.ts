/** Tests the cost of turns: on their records, in budgets, in reports, and the refusals when it could not be known. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, type Installation, install, until } from '../installation.ts'

/** A program that answers each prompt with the tokens that the test wants: 1,000,000 of input, 100,000 of output. */
const program = `process.stdin.resume(); process.stdin.on('end', () => process.stdout.write(JSON.stringify({
  text: 'done', model: 'gpt-5-2025-08-07', usage: { input: 1000000, cached: 400000, output: 100000 } })))`

const meter = `{ kind: command, command: "${process.execPath}", args: [-e, "${program.replaceAll('\n', ' ')}"],
    output: { format: json, text: /text, model: /model, usage: { input: /usage/input, cached: /usage/cached, output: /usage/output } } }`

function configured(agents: string): string {
  return configuration.replace(
    'agents: {',
    `agents: {\n  runners: { meter: ${meter} },\n  defaults: { runner: meter, model: openai/gpt-5, heartbeat: { every: 24h } },\n  ${agents}`,
  )
}

const mappings = `endpoints: { pulls: { budget: { usd: 3 } } }
mappings:
  - { id: review, match: { path: pulls }, message: look, sessionKey: "hook:pr:{{n}}", deliver: false, wakeMode: next-heartbeat }
`

/** 600,000 × $1.25 + 400,000 × $0.125 + 100,000 × $10, each for a million. */
const each = 1.8

/** Returns the subject of an issue once it is open. */
const subjectOf = (read: Installation['read'], code: string) =>
  until(async () => {
    const { items } = await read<{ items: { code: string; subject: string }[] }>('/api/issues')
    return items.find((issue) => issue.code === code)?.subject
  }, `the issue ${code}`)

test('a run costs what its tokens do; its budget is alarmed about, and then spent', async (t) => {
  const { post, ended, read, lines, line } = await install(t, {
    'reveille.yaml': configured('budget: { usd: 100 },'),
    'mappings/pulls.yaml': mappings,
  })
  const runs = []
  for (const n of [1, 2]) runs.push(await ended((await post('/hooks/pulls', { n })).body['runId']))
  assert.deepEqual(
    runs.map(({ state, usage, model }) => [state, usage?.usd, model]),
    [1, 2].map(() => ['succeeded', each, 'gpt-5-2025-08-07']),
  )
  await post('/hooks/pulls', { n: 3 })
  const parked = await line('run-parked')
  assert.equal(parked['code'], 'BUDGET')
  assert.match(String(parked['reason']), /endpoints\.pulls\.budget\), 3 USD a day, is spent/)
  assert.deepEqual(
    lines('budget-alarm').map(({ key, percent, spent }) => [key, percent, spent]),
    [
      ['endpoints.pulls.budget', 50, '1.8 of 3 USD'],
      ['endpoints.pulls.budget', 100, '3.6 of 3 USD'],
    ],
  )
  assert.equal(await subjectOf(read, 'BUDGET_ALARM'), 'endpoints.pulls.budget')
  type Spend = {
    items: readonly { name: string }[]
    month: { usd: number; projectedUsd: number }
    today: object
  }
  const spend = await read<Spend>('/api/spend?by=mapping')
  assert.deepEqual(spend.items, [{ name: 'review', runs: 2, tokens: 2_200_000, usd: 3.6, unpriced: 0 }])
  assert.ok(spend.month.projectedUsd >= spend.month.usd && spend.month.usd === 3.6)
  assert.partialDeepStrictEqual(spend.today, {
    usd: 3.6,
    budgets: [
      { key: 'agents.budget', usd: 3.6, isSpent: false },
      { key: 'endpoints.pulls.budget', usd: 3.6, isSpent: true },
    ],
  })
  const names = async (by: string) => (await read<Spend>(`/api/spend?by=${by}`)).items.map(({ name }) => name)
  assert.deepEqual(await names('model'), ['gpt-5-2025-08-07'])
  assert.deepEqual((await names('session')).toSorted(), ['hook:pr:1', 'hook:pr:2'])
})

test('a run whose cost could not be counted is parked, and performed once there is a price', async (t) => {
  const { post, line, read, write, ask, ended, gateway } = await install(t, {
    'reveille.yaml': configured('budget: { usd: 100 },'),
  })
  const { body } = await post('/hooks/agent', { message: 'hi', model: 'ollama/llama', deliver: false })
  const parked = await line('run-parked')
  assert.equal(parked['code'], 'NO_PRICE')
  const reason = /agents\.budget counts US dollars, and the model ollama\/llama has no price/
  assert.match(String(parked['reason']), reason)
  const id = String(body['runId'])
  await subjectOf(read, 'NO_PRICE')
  assert.equal((await read<{ state: string }>(`/api/runs/${id}`)).state, 'parked')
  const prices = 'prices: { "ollama/llama": { input: 0, output: 0 } },'
  await write('reveille.yaml', configured(`budget: { usd: 100 }, ${prices}`).replaceAll('{folder}', '.'))
  assert.ok((await gateway.reload()).ok)
  assert.equal((await ask(`/api/runs/${id}/resume`, { method: 'POST' })).status, 200)
  assert.equal((await ended(id)).state, 'succeeded')
})

test('a budget in US dollars is refused for a runner that reports no tokens', async (t) => {
  const agents = 'defaults: { model: openai/gpt-5 }, budget: { usd: 5 }'
  await assert.rejects(
    install(t, { 'reveille.yaml': configuration.replace('agents: {', `agents: { ${agents},`) }),
    /agents\.budget\.usd counts what turns cost, and the runner echo reports no tokens/,
  )
})
