import assert from 'node:assert/strict'
import test from 'node:test'
import { onlyOne, testLoads } from './load-fixture.ts'

testLoads(
  `
# quiet hours are times of day in a time zone, and may extend past midnight
defaults: { heartbeat: { quietHours: { from: "22:30", to: "07:05", timezone: America/New_York } } } ⇒ { defaults: { heartbeat: { quietHours: { from: 1350, to: 425, timezone: America/New_York } } } }
defaults: { heartbeat: { quietHours: { from: 09:00, to: 10:00 } } } ⇒ { defaults: { heartbeat: { quietHours: { from: 540, to: 600, timezone: UTC } } } }

# the longest wait between attempts may be as short as the first
defaults: { retry: { attempts: 5, backoff: 5m, maxBackoff: 5m } } ⇒ { defaults: { retry: { attempts: 5, firstMs: 300000, maxMs: 300000 } } }

# budgets and session settings are loaded as written
budget: { tokens: 5 }, sessions: { maxCharacters: 1000, maxMessages: 2, compaction: summarise, idleExpiry: 2h } ⇒ { budget: { tokens: 5 }, sessions: { maxCharacters: 1000, maxMessages: 2, compaction: summarise, idleMs: 7200000 } }
`.replaceAll(/ ⇒ (.*)/g, ' ⇒ { settings: { agents: $1 } }'),
  (text) => `agents: { ${text} }\n`,
)

test('a budget of an endpoint asks for a priced model too, in whichever file it stands', async (context) => {
  const files = {
    'reveille.yaml': 'agents: { defaults: { model: ollama/llama } }\n',
    'mappings/a.yaml':
      'endpoints: { github: { budget: { usd: 1 } } }\nmappings: [{ match: { path: github }, message: hi }]\n',
  }
  const { code, place, message } = await onlyOne(context, files)
  assert.deepEqual([code, place?.line, place?.file.endsWith('a.yaml')], ['MODEL_WITHOUT_PRICE', 1, true])
  assert.match(message, /`endpoints\.github\.budget\.usd` counts what models cost/)
})
