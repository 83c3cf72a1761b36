import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { loadGood, onlyOne } from './load-fixture.ts'

async function agentsOf(context: TestContext, text: string) {
  return (await loadGood(context, text)).settings.agents
}

const quiet = (hours: string) => `agents: { defaults: { heartbeat: { quietHours: { ${hours} } } } }\n`

test('quiet hours are times of day in a time zone, and may extend past midnight', async (context) => {
  const { defaults } = await agentsOf(
    context,
    quiet('from: "22:30", to: "07:05", timezone: America/New_York'),
  )
  assert.deepEqual(
    { ...defaults.heartbeat.quietHours },
    { from: 1350, to: 425, timezone: 'America/New_York' },
  )
  const here = await agentsOf(context, quiet('from: 09:00, to: 10:00'))
  assert.deepEqual({ ...here.defaults.heartbeat.quietHours }, { from: 540, to: 600, timezone: 'UTC' })
})

test('waits between attempts grow, so the longest must not be shorter than the first', async (context) => {
  const { code, message, place } = await onlyOne(
    context,
    'agents: { defaults: { retry: { backoff: 5m } } }\n',
  )
  assert.deepEqual([code, place?.column], ['INVALID_VALUE', 41])
  assert.match(message, /`maxBackoff` \(2m\)/)
  const { defaults } = await agentsOf(
    context,
    'agents: { defaults: { retry: { attempts: 5, backoff: 5m, maxBackoff: 5m } } }\n',
  )
  assert.deepEqual({ ...defaults.retry }, { attempts: 5, firstMs: 300_000, maxMs: 300_000 })
})

test('budgets and session settings are loaded as written', async (context) => {
  const text =
    'agents: { budget: { tokens: 5 }, sessions: { maxCharacters: 1000, maxMessages: 2, compaction: summarise, idleExpiry: 2h } }\n'
  const { budget, sessions } = await agentsOf(context, text)
  assert.deepEqual({ ...budget }, { tokens: 5 })
  assert.deepEqual(
    { ...sessions },
    { maxCharacters: 1000, maxMessages: 2, compaction: 'summarise', idleMs: 7_200_000 },
  )
})

test('the same holds for the budget of an endpoint, in whichever file it stands', async (context) => {
  const files = {
    'reveille.yaml': 'agents: { defaults: { model: ollama/llama } }\n',
    'mappings/a.yaml':
      'endpoints: { github: { budget: { usd: 1 } } }\nmappings: [{ match: { path: github }, message: hi }]\n',
  }
  const { code, place, message } = await onlyOne(context, files)
  assert.deepEqual([code, place?.line, place?.file.endsWith('a.yaml')], ['MODEL_WITHOUT_PRICE', 1, true])
  assert.match(message, /`endpoints\.github\.budget\.usd` counts what models cost/)
})
