import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Configuration } from './configuration.ts'
import type { Diagnostic } from './diagnostic/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

const gmail =
  'mappings:\n  - id: gmail-message\n    match: { path: gmail }\n    message: "{{messages[0].subject}}"\n'

async function load(context: TestContext, text: string) {
  const folder = await createSampleFolder(context, { 'reveille.yaml': text, 'shipped/gmail.yaml': gmail })
  const file = folder.at('reveille.yaml')
  return loadConfiguration({ file, env: {}, presets: folder.at('shipped') })
}

async function loadGood(context: TestContext, text: string): Promise<Configuration> {
  const loaded = await load(context, text)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

async function loadBad(context: TestContext, text: string): Promise<readonly Diagnostic[]> {
  const loaded = await load(context, text)
  assert.ok(!loaded.ok, 'this should not load')
  return loaded.diagnostics
}

/** As its users write it, unquoted keys and last commas included. */
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
  test(`a hooks block of OpenClaw in ${how} means what it means there`, async (context) => {
    const { settings, mappings, warnings } = await loadGood(context, text)
    assert.deepEqual(warnings, [])
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

const foreign: Readonly<Record<string, readonly [text: string, hint: RegExp]>> = {
  'hooks.allowedAgentIds': ['hooks: { allowedAgentIds: [main] }\n', /`runner` and `model`/],
  'hooks.defaultSessionKey': ['hooks: { defaultSessionKey: "hook:x" }\n', /`sessionKey:` in the mappings/],
  'hooks.allowRequestSessionKey': ['hooks: { allowRequestSessionKey: false }\n', /allowedSessionKeyPrefixes/],
  'hooks.internal': ['hooks: { internal: { enabled: true } }\n', /Remove it/],
  'hooks.mappings[0].agentId': [
    'hooks: { mappings: [{ message: x, agentId: main }] }\n',
    /`runner` and `model`/,
  ],
  'hooks.mappings[0].sessionMode': [
    'hooks: { mappings: [{ message: x, sessionMode: persistent }] }\n',
    /share a conversation/,
  ],
}

for (const [key, [text, wanted]] of Object.entries(foreign)) {
  test(`${key} of OpenClaw is refused with what to do instead`, async (context) => {
    const [finding, ...rest] = await loadBad(context, text)
    const column = text.indexOf(`${key.split('.').at(-1)}:`) + 1
    assert.deepEqual([finding?.code, finding?.place?.column, rest], ['FOREIGN_KEY', column, []])
    assert.match(finding?.hint ?? '', wanted)
    assert.equal(finding?.place?.text, text.trimEnd(), 'none of them holds a secret')
  })
}

test('the keys that hooks.gmail of OpenClaw has and ours does not are told one by one, its values nowhere', async (context) => {
  const mailbox = 'account: "a@b.example", pushToken: hush-hush, tailscale: { mode: funnel }'
  const text = `hooks: { enabled: true, token: hook-4fK29sLq0ZpVx81mWnB7cRtY, gmail: { ${mailbox} } }\n`
  const findings = await loadBad(context, text)
  assert.deepEqual(
    findings.map(({ code, message }) => [code, message.split('`')[1]]),
    [
      ['FOREIGN_KEY', 'hooks.gmail.pushToken'],
      ['FOREIGN_KEY', 'hooks.gmail.tailscale'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(findings), /hush/)
})

test('a comment of JSON5 is told how it is written here', async (context) => {
  const texts = [
    '{\n  hooks: {\n    // about the path\n    path: "/hooks",\n  },\n}\n',
    '// mine\n{ hooks: {} }\n',
  ]
  for (const text of texts) {
    const [finding] = await loadBad(context, text)
    assert.match(finding?.hint ?? '', /begin with `#`/)
  }
  await loadGood(context, '{\n  hooks: {\n    # about the path\n    path: "/hooks",\n  },\n}\n')
})
