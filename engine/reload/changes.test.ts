import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { parse } from 'yaml'
import { testBlocks } from '../config/blocks-fixture.ts'
import { createSampleFolder } from '../config/folder-fixture.ts'
import { loadConfiguration } from '../config/load.ts'
import { filesOf } from '../config/load-fixture.ts'
import { configurationSchema } from '../config/schema/configuration-schema.ts'
import type { Bundle } from '../transform/port.ts'
import { findChanges, noChanges } from './changes.ts'

const presets = new URL('../../mappings', import.meta.url).pathname

/** Loads one set of files after another in one folder. */
async function createLoads(context: TestContext) {
  const folder = await createSampleFolder(context)
  return async (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) await folder.write(name, text)
    const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {}, presets })
    if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
    return { configuration: loaded.configuration, bundles: new Map<string, Bundle>() }
  }
}

const [a, b, c] = ['a', 'b', 'c'].map((id) => `{ id: ${id}, match: { path: ${id} }, message: hello }`)

/** Files before and after, and what has changed; the rest has not. */
const edits = `
# mappings are reported by their ids: added, changed and removed
{} || mappings/a.yaml: mappings: [${a}, ${b}] → {} || mappings/a.yaml: mappings: [${b?.replace('hello', 'changed')}, ${c}] ⇒ { mappings: { added: [c], changed: [b], removed: [a], reordered: false } }
# a mapping has changed if a value for its transform has, and no value is reported
{} || key.txt: one-secret || mappings/a.yaml: mappings: [{ id: a, transform: { module: a.ts, with: { key: "\${file:key.txt}" } } }] → {} || key.txt: two-secret ⇒ { mappings: { added: [], changed: [a], removed: [], reordered: false } }
# another order of the same mappings is a change, because the first match wins, and one between two is no other order
{} || mappings/a.yaml: mappings: [${a}, ${b}] → {} || mappings/a.yaml: mappings: [${b}, ${a}] ⇒ { mappings: { added: [], changed: [], removed: [], reordered: true } }
{} || mappings/a.yaml: mappings: [${a}, ${b}] → {} || mappings/a.yaml: mappings: [${a}, ${c}, ${b}] ⇒ { mappings: { added: [c], changed: [], removed: [], reordered: false } }
# changes of comments, white space and tests are not reported
hooks: {} || mappings/a.yaml: mappings: [${a}] → # a comment⏎hooks:   {} || mappings/a.yaml: ⏎⏎# another⏎mappings: [${a}]⏎tests: [{ name: t, request: { endpoint: a }, expect: { mapping: a } }] ⇒ {}
# an adjusted preset has changed mappings, and a removed one has none
hooks: { presets: [gmail] } → hooks: { presets: [{ name: gmail, path: mail }] } ⇒ { mappings: { added: [], changed: [gmail-message, gmail-message-without-id], removed: [], reordered: false }, endpoints: { added: [mail], changed: [], removed: [gmail] } }
hooks: { presets: [gmail] } → hooks: { presets: [] } ⇒ { mappings: { added: [], changed: [], removed: [gmail-message, gmail-message-without-id], reordered: false }, endpoints: { added: [], changed: [], removed: [gmail] } }
# policies are reported by their endpoints
hooks: { endpoints: { a: { maxBodyBytes: 1 }, b: { maxBodyBytes: 1 } } } → hooks: { endpoints: { b: { maxBodyBytes: 2 }, c: {} } } ⇒ { endpoints: { added: [c], changed: [b], removed: [a] } }
`

testBlocks(edits, async (row, context) => {
  const load = await createLoads(context)
  const [, before = '', after = '', expected = ''] =
    /^(.*) → (.*) ⇒ (.*)$/s.exec(row.replaceAll('⏎', '\n')) ?? []
  const sideOf = (text: string) => load(filesOf(text) as Readonly<Record<string, string>>)
  const changes = findChanges(await sideOf(before), await sideOf(after))
  assert.deepEqual(changes, { ...noChanges, ...parse(expected) }, row)
})

test('a transform with another bundle has changed', async (context) => {
  const load = await createLoads(context)
  const { configuration } = await load({ 'reveille.yaml': 'hooks: {}\n' })
  const sideOf = (digests: Readonly<Record<string, string>>) => {
    const bundles = Object.entries(digests).map(
      ([module, digest]) => [module, { module, digest, file: '/x.mjs' }] as const,
    )
    return { configuration, bundles: new Map(bundles) }
  }
  const changes = findChanges(sideOf({ a: '1', b: '1', c: '1' }), sideOf({ b: '1', c: '2', d: '1' }))
  assert.deepEqual(changes.transforms, { added: ['d'], changed: ['c'], removed: ['a'] })
})

test('for the first generation everything is new, and keys that wait for a restart are among the changed settings', async (context) => {
  const load = await createLoads(context)
  const first = await load({ 'reveille.yaml': 'hooks: {}\n', 'mappings/a.yaml': `mappings: [${a}]\n` })
  const { mappings, settings: none } = findChanges(undefined, first)
  assert.deepEqual([mappings.added, none], [['a'], []])
  const after = await load({ 'reveille.yaml': 'hooks: { maxActions: 3 }\n' })
  const { settings, restart } = findChanges(first, after, ['gateway.port'])
  assert.deepEqual([settings, restart], [['gateway.port', 'hooks.maxActions'], ['gateway.port']])
})

/** A configuration of which each key differs from the first load's. */
const others = parse(`
gateway:
  { host: '::1', port: 1, trustedProxies: [10.0.0.0/8], dataDir: ./elsewhere, log: { level: warn, format: json }, limits: { backlog: 5 },
    auth: { token: gateway-canary, tokens: [{ name: ada, token: reader-canary-4fK29sLq0ZpV, may: read }] }, metrics: { token: metrics-canary },
    store: 'postgres://ada:canary-canary@db.example.com/reveille', issues: { notify: false, severity: degraded, channel: terminal, to: '#canary',
      webhook: { url: 'https://canary.example.com/issues', secret: whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LTMyYnk= } } }
hooks:
  { enabled: true, token: [hook-canary-one, hook-canary-two], path: /in, allowQueryToken: false, allowedSessionKeyPrefixes: ['canary:', 'hook:'],
    defaultSessionKey: hook:canary, allowRequestSessionKey: false, allowedAgentIds: ['*'], maxBodyBytes: 1, bodyTimeout: 1s, maxActions: 1,
    maxRenderedBytes: 1, mappingsDir: ./other, transformsDir: ./other, gmail: { account: canary@example.com },
    transforms: { timeout: 1s, memoryMb: 64, concurrency: 1, modules: { a.ts: { memoryMb: 64 } } },
    reload: { requireTests: false, debounce: 1s, rest: 2s, poll: true } }
history: { bodies: all, keep: 1d, ignored: 2h, maxBodyBytes: 5MiB }
agents:
  { defaults: { runner: command, model: canary/one, models: { canary/one: { alias: one } }, systemPrompt: canary, thinking: high,
      timeoutSeconds: 1, concurrency: 1, retry: { attempts: 9, backoff: 3s, maxBackoff: 3m },
      heartbeat: { every: 1m, idle: true, ackToken: CANARY, prompt: canary, quietHours: { from: '22:00', to: '07:00' } } },
    sessions: { maxCharacters: 5000, maxMessages: 50, compaction: summarise, idleExpiry: 1h }, budget: { runs: 5 },
    prices: { my.own/one: { input: 1, output: 5 } }, providers: { my.own: { apiKey: canary } },
    runners: { my.own: { kind: command, apiKey: canary } }, route: { channel: slack, to: canary } }
deliveries: { retryFor: 1h, retryUnsure: true, maxMessages: 3 }
channels: { slack: { botToken: canary } }
sources: { tides: { key: canary } }
observers: { otel: { key: canary } }
plugins: [canary]
`)

/** These are reported as the mappings and policies in them. */
const notSettings = new Set(['$schema', 'hooks.presets', 'hooks.endpoints', 'hooks.mappings'])

/** Optional sections without a default. */
const optionalSections = new Set(['agents.route', 'agents.budget', 'agents.defaults.heartbeat.quietHours'])

/** Maps whose keys only a plugin knows. */
const open = new Set(['hooks.gmail'])

/** Walks into sections. A map whose names the operator chooses counts as one key. */
function keysOf(schema: object, path = ''): string[] {
  const { properties } = schema as { properties?: Readonly<Record<string, object>> }
  const isOpen = 'additionalProperties' in schema && schema.additionalProperties !== false
  if (!properties || isOpen || optionalSections.has(path) || open.has(path)) return [path]
  return Object.entries(properties).flatMap(([name, below]) =>
    keysOf(below, path === '' ? name : `${path}.${name}`),
  )
}

test('a change of any key is reported by the key that the operator wrote, without its value', async (context) => {
  const load = await createLoads(context)
  const first = await load({ 'reveille.yaml': JSON.stringify(base), 'other/.keep': '' })
  for (const key of keysOf(configurationSchema).filter((key) => !notSettings.has(key))) {
    const path = key.split('.')
    const value = path.reduce((map, name) => map?.[name], others)
    assert.notEqual(value, undefined, `${key} has another value`)
    const next = await load({ 'reveille.yaml': JSON.stringify(withKey(base, path, value)) })
    const changes = findChanges(first, next)
    assert.ok(changes.settings.length > 0, key)
    for (const name of changes.settings) assert.ok(isBelow(name, key), `${key} is reported as ${name}`)
    assert.doesNotMatch(JSON.stringify(changes), /canary/i, key)
    assert.deepEqual(findChanges(next, first).settings, changes.settings, key)
  }
})

/** The keys that the others need to be valid. */
const base = parse(`
gateway:
  issues:
    { channel: slack, to: '#first', webhook: { url: 'https://first.example.com/issues', secret: whsec_Zmlyc3QtZmlyc3QtZmlyc3QtZmlyc3QtZmlyc3QtMzI= } }
hooks: { token: first }
channels: { slack: , terminal: }
agents: { runners: {}, defaults: {} }
`)

function withKey(map: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (map as Readonly<Record<string, object>>)[name] ?? {}
  return { ...map, [name]: rest.length === 0 ? value : withKey(inner, rest, value) }
}

const namedByOperators =
  /^(channels|sources|observers|agents\.(runners|providers|prices)|hooks\.transforms\.modules)$/

/** Channels, runners, providers and modules are reported by their own names. */
function isBelow(name: string, key: string): boolean {
  return name === key || (namedByOperators.test(key) && name.startsWith(`${key}.`))
}
