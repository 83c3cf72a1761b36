import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from '../config/folder-fixture.ts'
import { loadConfiguration } from '../config/load.ts'
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

const mapping = (id: string, message = 'hello') =>
  `  - { id: ${id}, match: { path: ${id} }, message: "${message}" }\n`
const mappings = (...lines: string[]) => `mappings:\n${lines.join('')}`

test('mappings are reported by their ids: added, changed and removed', async (context) => {
  const load = await createLoads(context)
  const before = await load({
    'reveille.yaml': 'hooks: {}\n',
    'mappings/a.yaml': mappings(mapping('a'), mapping('b')),
  })
  const after = await load({ 'mappings/a.yaml': mappings(mapping('b', 'changed'), mapping('c')) })
  assert.deepEqual(findChanges(before, after).mappings, {
    added: ['c'],
    changed: ['b'],
    removed: ['a'],
    reordered: false,
  })
})

test('a mapping has changed if a value for its transform has, and no value is reported', async (context) => {
  const load = await createLoads(context)
  const text = `mappings: [{ id: a, match: { path: a }, transform: { module: a.ts, with: { key: "\${file:key}" } } }]\n`
  const before = await load({ 'reveille.yaml': 'hooks: {}\n', 'mappings/a.yaml': text, key: 'one-secret' })
  const after = await load({ key: 'two-secret' })
  const changes = findChanges(before, after)
  assert.deepEqual(changes.mappings, { ...noChanges.mappings, changed: ['a'] })
  assert.doesNotMatch(JSON.stringify(changes), /secret/)
})

test('another order of the same mappings is a change, because the first match wins', async (context) => {
  const load = await createLoads(context)
  const before = await load({
    'reveille.yaml': 'hooks: {}\n',
    'mappings/a.yaml': mappings(mapping('a'), mapping('b')),
  })
  const after = await load({ 'mappings/a.yaml': mappings(mapping('b'), mapping('a')) })
  assert.deepEqual(findChanges(before, after).mappings, { ...noChanges.mappings, reordered: true })
  const between = await load({ 'mappings/a.yaml': mappings(mapping('b'), mapping('x'), mapping('a')) })
  assert.equal(findChanges(after, between).mappings.reordered, false, 'one between two is no other order')
})

test('changes of comments, white space and tests are not reported', async (context) => {
  const load = await createLoads(context)
  const before = await load({ 'reveille.yaml': 'hooks: {}\n', 'mappings/a.yaml': mappings(mapping('a')) })
  const after = await load({
    'reveille.yaml': '# a comment\nhooks:   {}\n',
    'mappings/a.yaml': `\n\n# another\n${mappings(mapping('a'))}tests: [{ name: t, request: { endpoint: a }, expect: { mapping: a } }]\n`,
  })
  assert.notEqual(after.configuration.digest, before.configuration.digest)
  assert.deepEqual(findChanges(before, after), noChanges)
})

test('an adjusted preset has changed mappings, and a removed one has none', async (context) => {
  const load = await createLoads(context)
  const before = await load({ 'reveille.yaml': 'hooks: { presets: [sentry] }\n' })
  const adjusted = await load({ 'reveille.yaml': 'hooks: { presets: [{ name: sentry, path: alarms }] }\n' })
  const ids = before.configuration.mappings.map(({ id }) => id)
  assert.ok(ids.length > 0)
  assert.deepEqual(findChanges(before, adjusted).mappings.changed, ids)
  const without = await load({ 'reveille.yaml': 'hooks: { presets: [] }\n' })
  assert.deepEqual(findChanges(adjusted, without).mappings.removed, ids)
})

test('policies are reported by their endpoints', async (context) => {
  const load = await createLoads(context)
  const policies = (text: string) => ({ 'reveille.yaml': `hooks: { endpoints: { ${text} } }\n` })
  const before = await load(policies('a: { maxBodyBytes: 1 }, b: { maxBodyBytes: 1 }'))
  const after = await load(policies('b: { maxBodyBytes: 2 }, c: {}'))
  assert.deepEqual(findChanges(before, after).endpoints, { added: ['c'], changed: ['b'], removed: ['a'] })
})

test('a transform with another bundle has changed', async (context) => {
  const load = await createLoads(context)
  const { configuration } = await load({ 'reveille.yaml': 'hooks: {}\n' })
  const sideOf = (digests: Readonly<Record<string, string>>) => ({
    configuration,
    bundles: new Map(
      Object.entries(digests).map(([module, digest]) => [module, { module, digest, file: '/x.mjs' }]),
    ),
  })
  assert.deepEqual(
    findChanges(sideOf({ a: '1', b: '1', c: '1' }), sideOf({ b: '1', c: '2', d: '1' })).transforms,
    {
      added: ['d'],
      changed: ['c'],
      removed: ['a'],
    },
  )
})

test('for the first generation everything is new and no setting has changed', async (context) => {
  const load = await createLoads(context)
  const after = await load({
    'reveille.yaml': 'hooks: { token: t }\n',
    'mappings/a.yaml': mappings(mapping('a')),
  })
  const { mappings: mappingChanges, settings } = findChanges(undefined, after)
  assert.deepEqual([mappingChanges.added, settings], [['a'], []])
})

test('keys that wait for a restart are among the changed settings', async (context) => {
  const load = await createLoads(context)
  const before = await load({ 'reveille.yaml': 'hooks: {}\n' })
  const after = await load({ 'reveille.yaml': 'hooks: { maxActions: 3 }\n' })
  const { settings, restart } = findChanges(before, after, ['gateway.port'])
  assert.deepEqual([settings, restart], [['gateway.port', 'hooks.maxActions'], ['gateway.port']])
})

/** Maps a key of the configuration file to a value that differs from the first load's. */
const others: Readonly<Record<string, unknown>> = {
  'gateway.host': '::1',
  'gateway.port': 1,
  'gateway.auth.token': 'gateway-canary',
  'gateway.auth.tokens': [{ name: 'ada', token: 'reader-canary-4fK29sLq0ZpV', may: 'read' }],
  'gateway.metrics.token': 'metrics-canary',
  'gateway.trustedProxies': ['10.0.0.0/8'],
  'gateway.dataDir': './elsewhere',
  'gateway.store': 'postgres://ada:canary-canary@db.example.com/reveille',
  'gateway.log.level': 'warn',
  'gateway.log.format': 'json',
  'gateway.limits.backlog': 5,
  'gateway.issues.notify': false,
  'gateway.issues.severity': 'degraded',
  'gateway.issues.channel': 'terminal',
  'gateway.issues.to': '#canary',
  'gateway.issues.webhook.url': 'https://canary.example.com/issues',
  'gateway.issues.webhook.secret': 'whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LTMyYnk=',
  'hooks.enabled': true,
  'hooks.token': ['hook-canary-one', 'hook-canary-two'],
  'hooks.path': '/in',
  'hooks.allowQueryToken': false,
  'hooks.allowedSessionKeyPrefixes': ['canary:', 'hook:'],
  'hooks.defaultSessionKey': 'hook:canary',
  'hooks.allowRequestSessionKey': false,
  'hooks.allowedAgentIds': ['*'],
  'hooks.maxBodyBytes': 1,
  'hooks.bodyTimeout': '1s',
  'hooks.maxActions': 1,
  'hooks.maxRenderedBytes': 1,
  'hooks.mappingsDir': './other',
  'hooks.transformsDir': './other',
  'hooks.transforms.timeout': '1s',
  'hooks.transforms.memoryMb': 64,
  'hooks.transforms.concurrency': 1,
  'hooks.transforms.modules': { 'a.ts': { memoryMb: 64 } },
  'hooks.reload.requireTests': false,
  'hooks.reload.debounce': '1s',
  'hooks.reload.rest': '2s',
  'hooks.reload.poll': true,
  'history.bodies': 'all',
  'history.keep': '1d',
  'history.ignored': '2h',
  'history.maxBodyBytes': '5MiB',
  'agents.defaults.runner': 'command',
  'agents.defaults.model': 'canary/one',
  'agents.defaults.models': { 'canary/one': { alias: 'one' } },
  'agents.defaults.systemPrompt': 'canary',
  'agents.defaults.thinking': 'high',
  'agents.defaults.timeoutSeconds': 1,
  'agents.defaults.concurrency': 1,
  'agents.defaults.retry.attempts': 9,
  'agents.defaults.retry.backoff': '3s',
  'agents.defaults.retry.maxBackoff': '3m',
  'agents.defaults.heartbeat.every': '1m',
  'agents.defaults.heartbeat.idle': true,
  'agents.defaults.heartbeat.ackToken': 'CANARY',
  'agents.defaults.heartbeat.prompt': 'canary',
  'agents.defaults.heartbeat.quietHours': { from: '22:00', to: '07:00' },
  'agents.sessions.maxCharacters': 5000,
  'agents.sessions.maxMessages': 50,
  'agents.sessions.compaction': 'summarise',
  'agents.sessions.idleExpiry': '1h',
  'agents.budget': { runs: 5 },
  'agents.prices': { 'my.own/one': { input: 1, output: 5 } },
  'agents.providers': { 'my.own': { apiKey: 'canary' } },
  'agents.runners': { 'my.own': { kind: 'command', apiKey: 'canary' } },
  'agents.route': { channel: 'slack', to: 'canary' },
  'deliveries.retryFor': '1h',
  'deliveries.retryUnsure': true,
  'deliveries.maxMessages': 3,
  channels: { slack: { botToken: 'canary' } },
  'hooks.gmail': { account: 'canary@example.com' },
  sources: { tides: { key: 'canary' } },
  observers: { otel: { key: 'canary' } },
  plugins: ['canary'],
}

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

test('every key of the configuration is tested here', () => {
  const keys = keysOf(configurationSchema).filter((key) => !notSettings.has(key))
  assert.deepEqual(keys.toSorted(), Object.keys(others).sort())
})

test('a changed setting is reported by the key that the operator wrote, without its value', async (context) => {
  const load = await createLoads(context)
  const first = await load({ 'reveille.yaml': JSON.stringify(base), 'other/.keep': '' })
  for (const [key, value] of Object.entries(others)) {
    const next = await load({ 'reveille.yaml': JSON.stringify(withKey(base, key.split('.'), value)) })
    const changes = findChanges(first, next)
    assert.ok(changes.settings.length > 0, key)
    for (const name of changes.settings) assert.ok(isBelow(name, key), `${key} is reported as ${name}`)
    assert.doesNotMatch(JSON.stringify(changes), /canary/i, key)
    assert.deepEqual(findChanges(next, first).settings, changes.settings, key)
  }
})

/** The keys that the others need to be valid. */
const base = {
  gateway: {
    issues: {
      ...{ channel: 'slack', to: '#first' },
      webhook: {
        url: 'https://first.example.com/issues',
        secret: 'whsec_Zmlyc3QtZmlyc3QtZmlyc3QtZmlyc3QtZmlyc3QtMzI=',
      },
    },
  },
  hooks: { token: 'first' },
  channels: { slack: {}, terminal: {} },
  agents: { runners: {}, defaults: {} },
}

function withKey(map: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (map as Readonly<Record<string, object>>)[name] ?? {}
  return { ...map, [name]: rest.length === 0 ? value : withKey(inner, rest, value) }
}

/** Channels, runners, providers and modules are reported by their own names. */
function isBelow(name: string, key: string): boolean {
  // The token also stands in the prompt, which changes with it.
  if (key === 'agents.defaults.heartbeat.ackToken' && name === 'agents.defaults.heartbeat.prompt') return true
  // A token is listed with its holder.
  if (key === 'gateway.auth.token' && name === 'gateway.auth.tokens') return true
  if (key === 'gateway.auth.tokens' && name === 'gateway.auth.token') return true
  return (
    name === key ||
    (/^(channels|sources|observers|agents\.(runners|providers|prices)|hooks\.transforms\.modules)$/.test(
      key,
    ) &&
      name.startsWith(`${key}.`))
  )
}
