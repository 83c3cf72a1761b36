/** Tests that docs/openclaw.md describes every key and field of OpenClaw as the code treats it. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadConfiguration } from '@reveille/engine'
import { foreignKeys } from '../../engine/config/schema/foreign-keys.ts'
import { createFolder, hookToken, install } from '../installation.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/openclaw.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, name = '', ...cells]) => ({ name, cells }))
const keys = rows.filter(({ name }) => name.includes('.'))
const fields = rows.filter(
  ({ name, cells }) => !name.includes('.') && /^(works|warning)$/.test(cells[0] ?? ''),
)

/** The keys of `hooks` of OpenClaw 2026.9 and earlier versions, each with a value that its documentation shows. */
const samples: Readonly<Record<string, unknown>> = {
  'hooks.enabled': true,
  'hooks.token': hookToken,
  'hooks.path': '/hooks',
  'hooks.maxBodyBytes': 262_144,
  'hooks.defaultSessionKey': 'hook:ingress',
  'hooks.allowRequestSessionKey': false,
  'hooks.allowedSessionKeyPrefixes': ['hook:'],
  'hooks.allowedAgentIds': ['main'],
  'hooks.sessionRetention': '24h',
  'hooks.presets': [],
  'hooks.transformsDir': '~/.openclaw/hooks/transforms',
  'hooks.internal': { enabled: true },
  'hooks.gmail.account': 'ada@example.com',
  'hooks.gmail.label': 'INBOX',
  'hooks.gmail.topic': 'projects/p/topics/gog-gmail-watch',
  'hooks.gmail.subscription': 'projects/p/subscriptions/gog-gmail-watch-push',
  'hooks.gmail.includeBody': true,
  'hooks.gmail.maxBytes': 20_000,
  'hooks.gmail.renewEveryMinutes': 720,
  'hooks.gmail.model': 'openai/gpt-5',
  'hooks.gmail.thinking': 'off',
  'hooks.gmail.allowUnsafeExternalContent': false,
  'hooks.gmail.pushToken': 'shared',
  'hooks.gmail.hookUrl': 'http://127.0.0.1:18789/hooks/gmail',
  'hooks.gmail.serve': { bind: '127.0.0.1', port: 8788, path: '/' },
  'hooks.gmail.tailscale': { mode: 'funnel', path: '/gmail-pubsub', target: '8788' },
  'mapping.id': 'one',
  'mapping.match.path': 'gmail',
  'mapping.match.source': 'gmail',
  'mapping.action': 'agent',
  'mapping.wakeMode': 'now',
  'mapping.name': 'Gmail',
  'mapping.agentId': 'mail_reader',
  'mapping.sessionKey': 'hook:gmail:{{messages[0].id}}',
  'mapping.sessionMode': 'isolated',
  'mapping.messageTemplate': 'x',
  'mapping.textTemplate': 'x',
  'mapping.forEach': 'messages',
  'mapping.deliver': false,
  'mapping.channel': 'last',
  'mapping.to': '+15551234567',
  'mapping.accountId': 'work',
  'mapping.model': 'openai/gpt-5',
  'mapping.thinking': 'low',
  'mapping.timeoutSeconds': 120,
  'mapping.allowUnsafeExternalContent': false,
  'mapping.transform.module': 'a.ts',
  'mapping.transform.export': 'transform',
}

test('the tables list every key of OpenClaw once, and every key that the code accepts', () => {
  const named = keys.map(({ name }) => name)
  assert.deepEqual(named.toSorted(), Object.keys(samples).toSorted())
  for (const key of Object.keys(foreignKeys)) assert.ok(named.includes(key), key)
})

for (const { name, cells } of keys) {
  test(`the key ${name} is treated as the page says: ${cells[0]}`, async (context) => {
    const loaded = await load(context, name, samples[name])
    const findings = loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
    const severities = findings.filter(({ code }) => code === 'FOREIGN_KEY').map(({ severity }) => severity)
    assert.deepEqual(severities, cells[0] === 'works' ? [] : [cells[0]], JSON.stringify(findings))
    assert.equal(loaded.ok, cells[0] !== 'error', JSON.stringify(findings))
    const isKnown = Object.hasOwn(foreignKeys, name)
    assert.ok(cells[0] === 'works' || isKnown, 'the code has a rule for it')
  })
}

/** Makes a configuration with this key and those that it needs. */
async function load(context: TestContext, name: string, value: unknown) {
  const [top, ...path] = name.split('.')
  const tree: Record<string, unknown> = {}
  path.reduce<Record<string, unknown>>((holder, key, index) => {
    holder[key] = index === path.length - 1 ? value : {}
    return holder[key] as Record<string, unknown>
  }, tree)
  const transform = tree['transform'] as Record<string, unknown> | undefined
  if (transform) transform['module'] ??= 'a.ts'
  const text = name === 'mapping.textTemplate' ? { action: 'wake' } : { messageTemplate: 'x' }
  const hooks = top === 'hooks' ? tree : { mappings: [{ ...text, ...tree }] }
  const content = JSON.stringify({ hooks: { enabled: true, token: hookToken, ...hooks } })
  const folder = await createFolder(context, { 'reveille.yaml': content })
  return loadConfiguration({ file: join(folder, 'reveille.yaml'), env: {} })
}

test('each field of a request has the effect that the page states, or is named in the answer', async (t) => {
  const { post } = await install(t, {})
  const values: Readonly<Record<string, unknown>> = {
    deliver: false,
    channel: 'last',
    model: 'openai/gpt-5',
    thinking: 'low',
    timeoutSeconds: 120,
    agentId: 'hooks',
    waitForCompletion: true,
    mode: 'now',
    wakeMode: 'now',
    sessionMode: 'persistent',
  }
  assert.ok(fields.length > 15)
  for (const { name, cells } of fields)
    for (const [index, endpoint] of ['agent', 'wake'].entries()) {
      const content = endpoint === 'agent' ? { message: 'x' } : { text: 'x' }
      const { status, body } = await post(`/hooks/${endpoint}`, {
        ...content,
        deliver: false,
        [name]: values[name] ?? 'x',
        ...content,
      })
      assert.ok(status < 300, `${name} ${JSON.stringify(body)}`)
      const warned = ((body['warnings'] ?? []) as { pointer: string }[]).map(({ pointer }) => pointer)
      assert.equal(warned.includes(`/${name}`), cells[index] === 'warning', `${endpoint} ${name} ${warned}`)
    }
})
