import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

type Files = Readonly<Record<string, string>>

async function load(context: TestContext, files: Files | string) {
  const all = typeof files === 'string' ? { 'reveille.yaml': files } : files
  const folder = await createSampleFolder(context, all)
  return loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
}

async function agentsOf(context: TestContext, text: string) {
  const loaded = await load(context, text)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics))
  return loaded.configuration.settings.agents
}

/** Returns errors and warnings. */
async function diagnostics(context: TestContext, files: Files | string): Promise<readonly Diagnostic[]> {
  const loaded = await load(context, files)
  return loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
}

function summary(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`)
}

async function only(context: TestContext, files: Files | string): Promise<Diagnostic> {
  const found = await diagnostics(context, files)
  const [first] = found
  assert.ok(first && found.length === 1, JSON.stringify(found))
  return first
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

test('quiet hours that never end, or have an invalid time or zone, are refused at their place', async (context) => {
  assert.deepEqual(summary(await diagnostics(context, quiet('from: "22:00", to: "22:00"'))), [
    'INVALID_VALUE 1:69',
  ])
  assert.deepEqual(summary(await diagnostics(context, quiet('from: "24:00", to: "7:00"'))), [
    'INVALID_VALUE 1:56',
    'INVALID_VALUE 1:69',
  ])
  const near = await only(context, quiet('from: "22:00", to: "07:00", timezone: Europe/Berlim'))
  assert.deepEqual([near.code, near.hint], ['UNKNOWN_TIMEZONE', 'Did you mean `Europe/Berlin`?'])
  assert.match(near.message, /`agents\.defaults\.heartbeat\.quietHours\.timezone`/)
  const offset = await only(context, quiet('from: "22:00", to: "07:00", timezone: "+01:00"'))
  assert.equal(offset.code, 'UNKNOWN_TIMEZONE')
  assert.equal((await only(context, quiet('from: "22:00"'))).code, 'MISSING_KEY')
})

test('waits between attempts grow, so the longest must not be shorter than the first', async (context) => {
  const { code, message, place } = await only(context, 'agents: { defaults: { retry: { backoff: 5m } } }\n')
  assert.deepEqual([code, place?.column], ['INVALID_VALUE', 41])
  assert.match(message, /`maxBackoff` \(2m\)/)
  const { defaults } = await agentsOf(
    context,
    'agents: { defaults: { retry: { attempts: 5, backoff: 5m, maxBackoff: 5m } } }\n',
  )
  assert.deepEqual({ ...defaults.retry }, { attempts: 5, firstMs: 300_000, maxMs: 300_000 })
})

for (const [name, text] of Object.entries({
  'sessions.maxCharacters': 'sessions: { maxCharacters: 999 }',
  'sessions.maxMessages': 'sessions: { maxMessages: 1001 }',
  'sessions.compaction': 'sessions: { compaction: summarize }',
  'sessions.idleExpiry': 'sessions: { idleExpiry: 0s }',
  budget: 'budget: {}',
  'budget.runs': 'budget: { runs: 0 }',
  'budget.tokens': 'budget: { tokens: 1.5 }',
  'defaults.retry.attempts': 'defaults: { retry: { attempts: 0 } }',
  'defaults.retry.backoff': 'defaults: { retry: { backoff: 25d, maxBackoff: 24d } }',
})) {
  test(`an invalid value of agents.${name} is refused by its name`, async (context) => {
    const { code, message } = await only(context, `agents: { ${text} }\n`)
    assert.equal(code, 'INVALID_VALUE')
    assert.ok(message.startsWith(`\`agents.${name}\` must be`), message)
  })
}

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

const providers = 'providers: { openai: { apiKey: "x" }, local: { kind: openai-compatible } }'

test('the names of providers may begin models, and their secrets are not shown', async (context) => {
  const agents = await agentsOf(context, `agents: { ${providers} }\n`)
  assert.deepEqual(Object.keys(agents.providers), ['openai', 'local'])
  const bad = 'agents:\n  providers:\n    "my own": { apiKey: sekret }\n    a/b: { apiKey: sekret }\n'
  const found = await diagnostics(context, bad)
  assert.deepEqual(summary(found), ['INVALID_NAME 3:5', 'INVALID_NAME 4:5'])
  assert.ok(!JSON.stringify(found).includes('sekret'))
})

test('a model with a provider that the runner ai does not have is an error with the nearest name', async (context) => {
  const at = (defaults: string, more = '') => `agents: { ${providers}, defaults: { ${defaults} }${more} }\n`
  const { code, hint, message } = await only(context, at('runner: ai, model: opnai/gpt-5'))
  assert.deepEqual([code, hint], ['UNKNOWN_PROVIDER', 'Did you mean `openai`?'])
  assert.match(message, /`agents\.defaults\.model`/)
  const named = await only(
    context,
    at('runner: mine, model: anthropic/claude-x', ', runners: { mine: { kind: ai } }'),
  )
  assert.equal(named.hint, 'There are openai, local.')
  const alias = await only(
    context,
    at('runner: ai, model: fast, models: { google/flash: { alias: fast }, openai/a: { alias: other } }'),
  )
  assert.equal(alias.code, 'UNKNOWN_PROVIDER')
  for (const good of [
    at('runner: ai, model: local/llama/3'),
    at('runner: ai, model: fast, models: { openai/gpt-5: { alias: fast } }'),
    at('model: anthropic/claude-x'),
    at('runner: mine, model: x/y', ', runners: { mine: { kind: command } }'),
    'agents: { defaults: { runner: ai, model: anthropic/claude-x } }\n',
  ])
    assert.deepEqual(await diagnostics(context, good), [], good)
})

const mapping = (text: string) => `hooks: { mappings: [{ message: x, ${text} }] }\n`

test('the longest wait of a coalesced run must not be shorter than its window', async (context) => {
  const { code, message, place } = await only(context, mapping('coalesce: { key: ref, window: 10m }'))
  assert.deepEqual([code, place?.column], ['INVALID_VALUE', 65])
  assert.match(message, /`hooks\.mappings\[0\]\.coalesce\.window` is longer than `maxWait` \(5m\)/)
  assert.deepEqual(
    await diagnostics(context, mapping('coalesce: { key: ref, window: 10m, maxWait: 10m }')),
    [],
  )
  const long = await only(context, mapping('coalesce: { key: ref, maxWait: 25h }'))
  assert.match(`${long.message} ${long.hint}`, /coalesce\.maxWait.*At most 24h\./)
})

for (const [what, text] of Object.entries({
  'a key': 'coalesce: {}',
  'a key that is not blank': 'coalesce: { key: " " }',
  'a known keep': 'coalesce: { key: ref, keep: first }',
  'runs that are counted': 'coalesce: { key: ref, maxRunsPerHour: 0 }',
  'a known busy': 'busy: drop',
})) {
  test(`coalesce and busy must have ${what}`, async (context) => {
    const { code, message } = await only(context, mapping(text))
    assert.match(code, /^(MISSING_KEY|INVALID_VALUE)$/)
    assert.match(message, /coalesce|busy/)
  })
}

test('busy and coalesce have no effect on a wake, and busy has none without a session', async (context) => {
  const wake = 'hooks: { mappings: [{ action: wake, text: x, busy: reject, coalesce: { key: ref } }] }\n'
  assert.deepEqual(summary(await diagnostics(context, wake)), ['UNUSED_FIELD 1:46', 'UNUSED_FIELD 1:60'])
  const { code, message } = await only(context, mapping('busy: reject'))
  assert.equal(code, 'UNUSED_FIELD')
  assert.match(message, /without `sessionKey`/)
  for (const good of [
    'busy: queue',
    'busy: reject, sessionKey: "hook:{{a}}"',
    'busy: queue, coalesce: { key: a }',
  ])
    assert.deepEqual(await diagnostics(context, mapping(good)), [], good)
})

test('a key of a policy without effect on a built-in endpoint is a warning', async (context) => {
  const policy = '{ concurrency: 1, timeoutSeconds: 5, budget: { runs: 1 }, bots: [a] }'
  const found = await diagnostics(context, {
    'reveille.yaml': `hooks: { endpoints: { agent: ${policy}, gh: ${policy} } }\n`,
    'mappings/a.yaml': `endpoints: { wake: ${policy} }\n`,
  })
  assert.deepEqual(
    found.map(({ severity, message }) => [severity, message.split('`')[1]]),
    [
      ['warning', 'endpoints.wake.concurrency'],
      ['warning', 'endpoints.wake.timeoutSeconds'],
      ['warning', 'endpoints.wake.budget'],
      ['warning', 'endpoints.wake.bots'],
      ['warning', 'hooks.endpoints.agent.bots'],
    ],
  )
})

for (const [key, value] of Object.entries({
  concurrency: '0',
  timeoutSeconds: '86401',
  budget: '{}',
  bots: '[]',
  'bots[1]': '[a, " "]',
})) {
  test(`an invalid ${key} of a policy is refused by its name`, async (context) => {
    const [name] = key.split('[')
    const { code, message } = await only(context, `hooks: { endpoints: { gh: { ${name}: ${value} } } }\n`)
    assert.equal(code, 'INVALID_VALUE')
    assert.ok(message.startsWith(`\`hooks.endpoints.gh.${key}\` must be`), message)
  })
}

const priced = (agents: string) => `agents: { ${agents} }\n`

test('a budget in US dollars needs a default model whose price is known, and is refused at its place', async (context) => {
  const budget = 'budget: { usd: 5 }'
  for (const [text, message, hint] of [
    [priced(budget), /`agents\.defaults\.model` names none/, /Write the model/],
    [
      priced(`defaults: { model: ollama/llama }, ${budget}`),
      /`agents\.budget\.usd` counts what models cost, and `agents\.defaults\.model` has no known price/,
      /agents\.prices: \{ "ollama\/llama"/,
    ],
  ] as const) {
    const { code, message: found, hint: advice = '', place } = await only(context, text)
    assert.deepEqual([code, place?.line], ['MODEL_WITHOUT_PRICE', 1])
    assert.match(found, message)
    assert.match(advice, hint)
  }
  const prices = 'prices: { ollama/llama: { input: 0, output: 0 } }'
  for (const text of [
    priced(`defaults: { model: openai/gpt-5 }, ${budget}`),
    priced(`defaults: { model: ollama/llama }, ${prices}, ${budget}`),
    priced(`defaults: { model: mini, models: { openai/gpt-5-mini: { alias: mini } } }, ${budget}`),
  ])
    assert.deepEqual(summary(await diagnostics(context, text)), [])
  const { prices: read } = await agentsOf(context, priced(prices))
  assert.deepEqual({ ...read['ollama/llama'] }, { input: 0, output: 0 })
})

test('the same holds for the budget of an endpoint, in whichever file it stands', async (context) => {
  const files = {
    'reveille.yaml': 'agents: { defaults: { model: ollama/llama } }\n',
    'mappings/a.yaml':
      'endpoints: { github: { budget: { usd: 1 } } }\nmappings: [{ match: { path: github }, message: hi }]\n',
  }
  const { code, place, message } = await only(context, files)
  assert.deepEqual([code, place?.line, place?.file.endsWith('a.yaml')], ['MODEL_WITHOUT_PRICE', 1, true])
  assert.match(message, /`endpoints\.github\.budget\.usd` counts what models cost/)
})

test('amounts of money are numbers, not below a cent a day, and prices are complete', async (context) => {
  const found = await diagnostics(
    context,
    priced('budget: { usd: 0 }, prices: { a/b: { input: -1, output: "$5" }, c/d: { input: 1 } }'),
  )
  assert.deepEqual(
    found.map(({ code, message }) => [code, message.replaceAll('`', '')]).toSorted(),
    [
      ['INVALID_VALUE', 'agents.budget.usd must be an amount of US dollars of at least 0.01, without a sign'],
      ['INVALID_VALUE', 'agents.prices["a/b"].input must be an amount of US dollars for a million tokens'],
      ['INVALID_VALUE', 'agents.prices["a/b"].output must be an amount of US dollars for a million tokens'],
      ['MISSING_KEY', 'agents.prices["c/d"].output is missing'],
    ].toSorted(),
  )
})
