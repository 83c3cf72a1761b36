/**
 * Tests configurations from OpenClaw's public documentation, in JSON5, of three versions: each loads with warnings at
 * most, and the documented requests are answered as OpenClaw answers them.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hookToken, type Installation, install } from '../installation.ts'
import { inJson } from './openclaw-configuration.ts'

const ofJanuary = inJson(`// ~/.openclaw/openclaw.json
{
  hooks: {
    enabled: true,
    token: '${hookToken}',
    path: "/hooks",
    presets: ["gmail"],
    transformsDir: "~/.openclaw/hooks/transforms",
    mappings: [
      // A mail is a run of its own.
      {
        match: { path: "gmail" },
        action: "agent",
        wakeMode: "now",
        name: "Gmail",
        sessionKey: "hook:gmail:{{messages[0].id}}",
        messageTemplate:
          "New email from {{messages[0].from}}\\nSubject: {{messages[0].subject}}\\n{{messages[0].snippet}}",
        model: "openai/gpt-5.2-mini",
        deliver: true,
        channel: "last"
        // to: "+15551234567"
      }
    ],
    gmail: {
      account: "ada@example.com",
      label: "INBOX",
      topic: "projects/harbour/topics/gog-gmail-watch",
      subscription: "gog-gmail-watch-push",
      pushToken: "shared-push-token-71c04f",
      hookUrl: "http://127.0.0.1:18789/hooks/gmail",
      includeBody: true,
      maxBytes: 20000,
      renewEveryMinutes: 720,
      serve: { bind: "127.0.0.1", port: 8788, path: "/" },
      tailscale: { mode: "funnel", path: "/gmail-pubsub" },
      model: "openrouter/meta-llama/llama-3.3-70b-instruct:free",
      thinking: "off"
    }
  },
`)

const ofApril = inJson(`{
  hooks: {
    enabled: true,
    token: "${hookToken}",
    path: "/hooks",
    maxBodyBytes: 262144,
    defaultSessionKey: "hook:ingress",
    allowRequestSessionKey: false, // a sender chooses no session
    allowedSessionKeyPrefixes: ["hook:"],
    /* Only these may be asked for. */
    allowedAgentIds: ["hooks", "main"],
    internal: { enabled: true, entries: { "session-memory": { enabled: true } } },
    mappings: [
      {
        match: { path: "/email" },
        action: "agent",
        agentId: "hooks",
        messageTemplate: "New email from {{from}}: {{subject}}",
        deliver: true,
        channel: "board",
        to: "123456789",
      },
      { match: { source: "ci" }, action: "wake", textTemplate: "{{name}} is {{state}}" },
    ],
  },
`)

const ofSeptember = inJson(`{
  hooks: {
    enabled: true,
    token: "${hookToken}",
    path: "/hooks",
    defaultSessionKey: "hook:gmail:ingress",
    allowRequestSessionKey: true,
    allowedSessionKeyPrefixes: ["hook:gmail:"],
    allowedAgentIds: ["mail_reader", "main"],
    mappings: [
      {
        id: "gmail-safe-reader",
        match: { path: "gmail" },
        action: "agent",
        agentId: "mail_reader",
        sessionMode: "persistent",
        wakeMode: "now",
        name: "Gmail",
        // Each element is \`messages[0]\` for its own run.
        forEach: "messages",
        sessionKey: "hook:gmail:{{messages[0].id}}",
        messageTemplate: "Summarize this email.\\nSubject: {{messages[0].subject}}",
        deliver: false,
      },
    ],
  },
`)

type Post = Installation['post']
/** The answers to the documented requests: their status, and some fields. */
type Expectation = (post: Post, ended: Installation['ended']) => Promise<void>

const bearer = { authorization: `Bearer ${hookToken}` }
const mail = { source: 'gmail', messages: [{ id: 'm1', from: 'Ada', subject: 'Hello', snippet: 'Hi' }] }

async function asEveryVersion(post: Post): Promise<void> {
  const woken = await post('/hooks/wake', { text: 'New email received', mode: 'now' }, bearer)
  assert.deepEqual([woken.status, woken.body['ok'], woken.body['mode']], [200, true, 'now'])
  const asked = { message: 'Summarize inbox', name: 'Email', wakeMode: 'next-heartbeat' }
  const own = { authorization: '', 'x-openclaw-token': hookToken }
  for (const body of [asked, { ...asked, model: 'openai/gpt-5.2-mini' }]) {
    const answered = await post('/hooks/agent', body, own)
    assert.deepEqual([answered.status, answered.body['ok']], [202, true])
    assert.equal(typeof answered.body['runId'], 'string')
    assert.equal(answered.body['warnings'], undefined)
  }
  assert.equal((await post('/hooks/agent', asked, { authorization: 'Bearer wrong' })).status, 401)
  assert.equal((await post('/hooks/agent', { name: 'Email' })).status, 400)
  assert.equal((await post('/hooks/wake', '{"text":')).status, 400)
  const large = { message: 'x'.repeat(1_100_000) }
  assert.equal((await post('/hooks/agent', large)).status, 413)
}

const foreign = (...keys: readonly string[]) => keys.map((key) => `FOREIGN_KEY hooks.${key}`)

const versions: Readonly<Record<string, readonly [string, readonly string[], Expectation]>> = {
  '2026.1': [
    ofJanuary,
    [
      ...foreign('gmail.hookUrl', 'gmail.pushToken', 'gmail.renewEveryMinutes', 'gmail.serve'),
      ...foreign('gmail.subscription', 'gmail.tailscale', 'gmail.topic'),
      'SHARED_KEY hooks.mappings[0].sessionKey',
    ],
    async (post, ended) => {
      const { status, body } = await post('/hooks/gmail', mail)
      assert.deepEqual([status, body['sessionKey']], [202, 'hook:gmail:m1'])
      const asked = {
        ...{ message: 'Run this', name: 'Email', wakeMode: 'now', sessionKey: 'hook:email:msg-123' },
        ...{ deliver: true, channel: 'last', to: '+15551234567' },
        ...{ model: 'openai/gpt-5.2-mini', thinking: 'low', timeoutSeconds: 120 },
      }
      const answered = await post('/hooks/agent', asked)
      assert.deepEqual([answered.status, answered.body['sessionKey']], [202, 'hook:email:msg-123'])
      assert.partialDeepStrictEqual(await ended(answered.body['runId']), asked)
      const byQuery = await post(`/hooks/wake?token=${hookToken}`, { text: 'x' }, { authorization: '' })
      assert.deepEqual([byQuery.status, typeof byQuery.headers['deprecation']], [200, 'string'])
    },
  ],
  '2026.4': [
    ofApril,
    foreign('allowedAgentIds', 'internal', 'mappings[0].agentId'),
    async (post) => {
      const chosen = await post('/hooks/agent', { message: 'x', sessionKey: 'hook:mine' })
      assert.deepEqual([chosen.status, chosen.body['code']], [400, 'SESSION_KEY_NOT_ALLOWED'])
      const given = await post('/hooks/agent', { message: 'x', agentId: 'hooks' })
      assert.deepEqual([given.status, given.body['sessionKey']], [202, 'hook:ingress'])
      assert.match(JSON.stringify(given.body['warnings']), /\/agentId.*one agent here/)
      assert.equal((await post('/hooks/agent', { message: 'x', agentId: 'other' })).status, 400)
      const key = { 'x-openclaw-idempotency-key': 'k1' }
      const first = await post('/hooks/email', { from: 'Ada', subject: 'Hello' }, key)
      const again = await post('/hooks/email', { from: 'Ada', subject: 'Hello' }, key)
      assert.deepEqual([first.status, again.status], [202, 200])
      assert.equal(again.body['runId'], first.body['runId'])
      const rang = await post('/hooks/anything', { source: 'ci', name: 'build', state: 'red' })
      assert.deepEqual([rang.status, rang.body['mode']], [200, 'now'])
    },
  ],
  '2026.9': [
    ofSeptember,
    foreign('allowedAgentIds', 'mappings[0].agentId'),
    async (post, ended) => {
      const smoke = { message: 'Summarize this.', name: 'Smoke test', agentId: 'main', deliver: false }
      const key = { 'idempotency-key': 'webhook-smoke-001' }
      const first = await post('/hooks/agent', smoke, key)
      const again = await post('/hooks/agent', smoke, key)
      assert.deepEqual([first.status, first.body['ok'], first.body['warnings']], [202, true, undefined])
      assert.deepEqual([again.status, again.body['runId']], [200, first.body['runId']])
      const inBody = { ...smoke, idempotencyKey: 'in-the-body' }
      const [one, two] = [await post('/hooks/agent', inBody), await post('/hooks/agent', inBody)]
      assert.equal(two.body['runId'], one.body['runId'])
      const woken = await post('/hooks/wake', { text: 'x', mode: 'now', agentId: 'main' })
      assert.deepEqual([woken.status, woken.body['warnings']], [200, undefined])
      const waiting = await post('/hooks/agent', { ...smoke, waitForCompletion: true, accountId: 'work' })
      assert.match(JSON.stringify(waiting.body['warnings']), /waitForCompletion.*Prefer: wait=60.*accountId/)
      const { status, body } = await post('/hooks/gmail', {
        messages: [...mail.messages, { id: 'm2', subject: 'Two' }],
      })
      assert.equal(status, 202)
      const actions = body['actions'] as { runId: string; sessionKey: string }[]
      assert.deepEqual(
        actions.map(({ sessionKey }) => sessionKey),
        ['hook:gmail:m1', 'hook:gmail:m2'],
      )
      const messages = await Promise.all(actions.map(async ({ runId }) => (await ended(runId)).message))
      assert.deepEqual(
        messages.map((message) => message.split('\n')[1]),
        ['Subject: Hello', 'Subject: Two'],
      )
    },
  ],
}

for (const [version, [configuration, warnings, expect]] of Object.entries(versions)) {
  test(`a configuration from the documentation of OpenClaw ${version} loads with warnings alone, and its requests are answered`, async (t) => {
    const { post, lines, ended } = await install(t, { 'reveille.yaml': configuration })
    const reported = lines('diagnostic').map(({ code, msg }) => `${code} ${String(msg).split('`')[1]}`)
    assert.deepEqual(reported.sort(), warnings)
    await asEveryVersion(post)
    await expect(post, ended)
  })
}
