import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createLoader } from './load.ts'
import { loadGood as load } from './load-fixture.ts'
import { createSampleFolder } from './sample-folder.ts'

/** Loads a configuration where one preset is shipped. */
const loadGood = (context: TestContext, text: string) =>
  load(context, { 'reveille.yaml': text, 'shipped/gmail.yaml': gmail })

const gmail =
  'mappings:\n  - id: gmail-message\n    match: { path: gmail }\n    message: "{{messages[0].subject}}"\n'

/** The block as OpenClaw's users write it, with unquoted keys and trailing commas. */
const relaxed = `{
  hooks: {
    enabled: true,
    token: "shared-9f2c77b1e04d4a6c8e35",
    path: "/hooks",
    maxBodyBytes: 262144,
    allowedSessionKeyPrefixes: ["hook:"],
    transformsDir: "~/.openclaw/hooks/transforms",
    presets: ["gmail"],
    mappings: [
      {
        match: { path: "/builds" },
        action: "agent",
        wakeMode: "now",
        name: "Builds",
        sessionKey: "hook:builds:{{build.id}}",
        messageTemplate:
          "Build {{build.id}} of {{headers.x-project}} ended\\n{{messages[0].subject}} {{query.branch}}",
        deliver: true,
        channel: "last",
        to: "C0123",
        model: "openai/gpt-5",
        thinking: "low",
        timeoutSeconds: 120,
        allowUnsafeExternalContent: true,
      },
      { match: { source: "door" }, action: "wake", wakeMode: "next-heartbeat", textTemplate: "{{path}} at {{now}}" },
      { messageTemplate: "{{payload}}", deliver: false },
    ],
  },
}
`

const strict = JSON.stringify(
  {
    hooks: {
      enabled: true,
      token: 'shared-9f2c77b1e04d4a6c8e35',
      path: '/hooks',
      maxBodyBytes: 262_144,
      allowedSessionKeyPrefixes: ['hook:'],
      transformsDir: '~/.openclaw/hooks/transforms',
      presets: ['gmail'],
      mappings: [
        {
          match: { path: 'builds' },
          action: 'agent',
          wakeMode: 'now',
          name: 'Builds',
          sessionKey: 'hook:builds:{{build.id}}',
          messageTemplate:
            'Build {{build.id}} of {{headers.x-project}} ended\n{{messages[0].subject}} {{query.branch}}',
          deliver: true,
          channel: 'last',
          to: 'C0123',
          model: 'openai/gpt-5',
          thinking: 'low',
          timeoutSeconds: 120,
          allowUnsafeExternalContent: true,
        },
        {
          match: { source: 'door' },
          action: 'wake',
          wakeMode: 'next-heartbeat',
          textTemplate: '{{path}} at {{now}}',
        },
        { messageTemplate: '{{payload}}', deliver: false },
      ],
    },
  },
  null,
  2,
)

const block = `hooks:
  enabled: true
  token: shared-9f2c77b1e04d4a6c8e35
  path: /hooks
  maxBodyBytes: 262144
  allowedSessionKeyPrefixes: ["hook:"]
  transformsDir: ~/.openclaw/hooks/transforms
  presets: [gmail]
  mappings:
    - match: { path: builds }
      action: agent
      wakeMode: now
      name: Builds
      sessionKey: "hook:builds:{{build.id}}"
      messageTemplate: |-
        Build {{build.id}} of {{headers.x-project}} ended
        {{messages[0].subject}} {{query.branch}}
      deliver: true
      channel: last
      to: C0123
      model: openai/gpt-5
      thinking: low
      timeoutSeconds: 120
      allowUnsafeExternalContent: true
    - match: { source: door }
      action: wake
      wakeMode: next-heartbeat
      textTemplate: "{{path}} at {{now}}"
    - messageTemplate: "{{payload}}"
      deliver: false
`

for (const [how, text] of Object.entries({ 'relaxed JSON': relaxed, 'strict JSON': strict, YAML: block })) {
  test(`a hooks block of OpenClaw in ${how} has the same meaning here`, async (context) => {
    const { settings, mappings, warnings } = await loadGood(context, text)
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['SHARED_KEY'],
    )
    assert.deepEqual(
      [settings.hooks.tokens, settings.hooks.path],
      [['shared-9f2c77b1e04d4a6c8e35'], '/hooks'],
    )
    assert.equal(settings.hooks.maxBodyBytes, 262_144)
    assert.deepEqual(
      mappings.map(({ value }) => JSON.parse(JSON.stringify(value))),
      [
        {
          action: 'agent',
          match: { path: 'builds' },
          wakeMode: 'now',
          name: 'Builds',
          sessionKey: 'hook:builds:{{build.id}}',
          message:
            'Build {{build.id}} of {{headers.x-project}} ended\n{{messages[0].subject}} {{query.branch}}',
          deliver: true,
          channel: 'last',
          to: 'C0123',
          model: 'openai/gpt-5',
          thinking: 'low',
          timeoutSeconds: 120,
          allowUnsafeExternalContent: true,
        },
        { action: 'wake', match: { source: 'door' }, mode: 'next-heartbeat', text: '{{path}} at {{now}}' },
        { action: 'agent', message: '{{payload}}', deliver: false },
        { action: 'agent', match: { path: 'gmail' }, message: '{{messages[0].subject}}' },
      ],
    )
  })
}

test('keys of OpenClaw that ask for the default behaviour load without a warning, and have no effect', async (context) => {
  const { mappings, settings, warnings } = await loadGood(
    context,
    `hooks:
  defaultSessionKey: " hook:ingress "
  allowRequestSessionKey: true
  allowedSessionKeyPrefixes: ["hook:"]
  allowedAgentIds: ["*", main]
  mappings:
    - { message: x, agentId: Main, sessionMode: persistent, sessionKey: "hook:x" }
    - { message: x, sessionMode: isolated }
    - { message: x, busy: reject }
`,
  )
  assert.deepEqual(warnings, [])
  assert.deepEqual(
    mappings.map(({ value }) => value),
    [
      { action: 'agent', message: 'x', sessionKey: 'hook:x' },
      { action: 'agent', message: 'x' },
      { action: 'agent', message: 'x', busy: 'reject' },
    ],
  )
  const { defaultSessionKey, allowRequestSessionKey, allowedAgentIds } = settings.hooks
  assert.deepEqual(
    [defaultSessionKey, allowRequestSessionKey, allowedAgentIds],
    ['hook:ingress', true, ['*', 'main']],
  )
})

test('a mapping’s foreign key is reported at each load, whether or not the mapping is cached', async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks:\n  mappings:\n    - { id: a, message: x, agentId: reader }\n',
  })
  const loader = createLoader({ file: folder.at('reveille.yaml'), env: {} })
  context.after(() => loader.close())
  const entries = []
  for (const _ of [1, 2]) {
    const loaded = await loader.load()
    assert.ok(loaded.ok)
    assert.deepEqual(
      loaded.configuration.warnings.map(({ code }) => code),
      ['FOREIGN_KEY'],
    )
    entries.push(loaded.configuration.mappings[0]?.value)
  }
  assert.equal(entries[0], entries[1])
})

test("keys of OpenClaw's hooks.gmail that are unknown here are reported one by one, without their values", async (context) => {
  const mailbox =
    'account: "a@b.example", topic: projects/p/topics/t, subscription: gog-gmail-watch-push, hookUrl: "http://x", pushToken: hush-hush, serve: { port: 8788 }, tailscale: { mode: funnel }'
  const text = `hooks: { enabled: true, token: hook-4fK29sLq0ZpVx81mWnB7cRtY, gmail: { ${mailbox} } }\n`
  const { warnings, settings } = await loadGood(context, text)
  assert.deepEqual(
    warnings.map(({ code, message }) => [code, message.split('`')[1]]),
    [
      ['SHORT_NAME', 'hooks.gmail.subscription'],
      ['FOREIGN_KEY', 'hooks.gmail.hookUrl'],
      ['FOREIGN_KEY', 'hooks.gmail.pushToken'],
      ['FOREIGN_KEY', 'hooks.gmail.serve'],
      ['FOREIGN_KEY', 'hooks.gmail.tailscale'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(warnings), /hush/)
  assert.deepEqual(settings.sources, {
    gmail: {
      account: 'a@b.example',
      topic: 'projects/p/topics/t',
      subscription: 'projects/p/subscriptions/gog-gmail-watch-push',
    },
  })
})

test('comments of JSON5 are recognised between brackets and around them, also in lists of texts', async (context) => {
  const text = `// ~/.openclaw/openclaw.json
{
  hooks: {
    // about the path
    path: "/hooks", // with a slash
    token: [
      // newest first
      "new-9f2c77b1e04d4a6c8e35", "old-9f2c77b1e04d4a6c8e35" ],
    allowedSessionKeyPrefixes: [
      // ours
      "hook:" ],
    presets: [ // mail
      "gmail" ],
    mappings: [ /* one */ { match: { headers: { x-a: [ // any
      "b", "c" ] } }, message: "see // this" } ],
  },
  agents: { defaults: { models: [ // cheap
    "openai/gpt-5-mini" ] } }
}
/* the end */
`
  const { settings, mappings, warnings } = await loadGood(context, text)
  assert.deepEqual(warnings, [])
  const { tokens, allowedSessionKeyPrefixes } = settings.hooks
  assert.deepEqual(tokens, ['new-9f2c77b1e04d4a6c8e35', 'old-9f2c77b1e04d4a6c8e35'])
  assert.deepEqual(allowedSessionKeyPrefixes, ['hook:'])
  assert.deepEqual(settings.agents.defaults.models?.allowed, ['openai/gpt-5-mini'])
  assert.deepEqual(
    mappings.map(({ id, value: { match, message } }) => [
      id,
      match?.headers?.['x-a'] ?? match?.path,
      message,
    ]),
    [
      ['reveille.yaml#1', ['b', 'c'], 'see // this'],
      ['gmail-message', 'gmail', '{{messages[0].subject}}'],
    ],
  )
})
