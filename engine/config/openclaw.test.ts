import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Configuration } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { createLoader, loadConfiguration } from './load.ts'
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

/** Text, the last key of the intended path, the finding. The valid texts load. */
const foreign: Readonly<
  Record<string, readonly [text: string, key: string, severity: 'warning' | 'error', hint: RegExp]>
> = {
  'hooks.internal': [
    'hooks: { internal: { enabled: true } }\n',
    'internal',
    'warning',
    /run inside OpenClaw/,
  ],
  'hooks.sessionRetention': [
    'hooks: { sessionRetention: 24h }\n',
    'sessionRetention',
    'warning',
    /idleExpiry/,
  ],
  'hooks.allowedAgentIds': [
    'hooks: { allowedAgentIds: [hooks, main] }\n',
    'allowedAgentIds',
    'warning',
    /`runner` and `model`/,
  ],
  'hooks.mappings[0].agentId': [
    'hooks: { mappings: [{ message: x, agentId: reader }] }\n',
    'agentId',
    'warning',
    /`runner` and `model`/,
  ],
  'hooks.mappings[0].sessionMode': [
    'hooks: { mappings: [{ message: x, sessionMode: persistent }] }\n',
    'sessionMode',
    'warning',
    /Without `sessionKey`/,
  ],
  'hooks.mappings[0].sessionMode beside a key': [
    'hooks: { mappings: [{ message: x, sessionKey: "hook:x", sessionMode: isolated }] }\n',
    'sessionMode',
    'error',
    /share a conversation/,
  ],
  'hooks.mappings[0].accountId': [
    'hooks: { mappings: [{ message: x, accountId: work }] }\n',
    'accountId',
    'error',
    /one account/,
  ],
}

for (const [what, [text, key, severity, wanted]] of Object.entries(foreign)) {
  test(`${what} of OpenClaw is ${severity === 'error' ? 'refused' : 'without effect'}, with what to do instead`, async (context) => {
    const loaded = await load(context, text)
    assert.equal(loaded.ok, severity === 'warning')
    const [finding, ...rest] = loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
    const column = text.indexOf(`${key}:`) + 1
    assert.deepEqual(
      [finding?.code, finding?.severity, finding?.place?.column, rest],
      ['FOREIGN_KEY', severity, column, []],
    )
    assert.match(finding?.hint ?? '', wanted)
    assert.equal(finding?.place?.text, text.trimEnd(), 'none of them holds a secret')
  })
}

test('a session key of OpenClaw without `sessionMode` is reported, because it joins what OpenClaw keeps apart', async (context) => {
  const { warnings } = await loadGood(
    context,
    `hooks:
  mappings:
    - { messageTemplate: x, sessionKey: "hook:x" }
    - { message: x, agentId: main, sessionKey: "hook:y:{{id}}" }
    - { messageTemplate: x, sessionKey: "hook:z", sessionMode: persistent }
    - { message: x, sessionKey: "hook:ours" }
`,
  )
  assert.deepEqual(
    warnings.map(({ code, place }) => [code, place?.line]),
    [
      ['SHARED_KEY', 3],
      ['SHARED_KEY', 4],
    ],
  )
})

test('a model that is written as in OpenClaw gets a hint', async (context) => {
  const loaded = await load(
    context,
    'agents: { defaults: { model: { primary: openai/gpt-5, fallbacks: [] } } }\n',
  )
  assert.ok(!loaded.ok)
  assert.match(loaded.diagnostics[0]?.hint ?? '', /^Write `model: openai\/gpt-5`/)
})

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

test('session keys that the gateway generates must be allowed in requests', async (context) => {
  const codes = (diagnostics: readonly Diagnostic[]) =>
    diagnostics.map(({ code, place }) => [code, place?.column])
  const of = (hooks: string) => load(context, `hooks: { ${hooks} }\n`)
  for (const prefixes of ['["agent:"]', '["hook:gmail:"]', '[]']) {
    const loaded = await of(`allowedSessionKeyPrefixes: ${prefixes}`)
    assert.ok(loaded.ok, prefixes)
    assert.deepEqual(codes(loaded.configuration.warnings), [['SESSION_KEY_NOT_ALLOWED', 37]], prefixes)
  }
  for (const good of [
    'allowedSessionKeyPrefixes: ["agent:", "hook:"]',
    'allowedSessionKeyPrefixes: ["agent:"], defaultSessionKey: "agent:x"',
  ])
    assert.ok((await of(good)).ok, good)
  for (const [bad, code] of [
    ['defaultSessionKey: Main', 'INVALID_VALUE'],
    ['defaultSessionKey: "hook:x", allowedSessionKeyPrefixes: ["agent:"]', 'SESSION_KEY_NOT_ALLOWED'],
  ] as const) {
    const loaded = await of(bad)
    assert.ok(!loaded.ok, bad)
    assert.deepEqual(codes(loaded.diagnostics), [[code, 29]])
  }
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

for (const [text, line, column] of [
  ['hooks:\n  // about the path\n  path: /hooks\n', 2, 3],
  ['hooks:\n  enabled: true\n  // about the path\n  path: /hooks\n', 3, 3],
  ['// mine\nhooks: {}\n', 1, 1],
  ['hooks:\n  path: // hooks\n', 2, 9],
  ['hooks:\n  presets:\n    - /* mail */ gmail\n', 3, 7],
  ['hooks:\n  path: "/hooks" // with a slash\n', 2, 18],
  ['hooks:\n  mappings:\n    - message: x\n    - // two\n      message: y\n', 4, 7],
  ['hooks:\n  mappings:\n    - message: // two\n', 3, 16],
  ['hooks: { presets: [gmail] } // mail\n', 1, 29],
] as const) {
  test(`a comment of JSON5 in block style is refused with how to write it: ${JSON.stringify(text)}`, async (context) => {
    const [finding] = await loadBad(context, text)
    assert.deepEqual(
      [finding?.code, finding?.place?.line, finding?.place?.column],
      ['YAML_SYNTAX', line, column],
    )
    assert.match(finding?.hint ?? '', /begin with `#`/)
  })
}

test('a comment without an end, an escaped apostrophe and a key without a space are each reported as such', async (context) => {
  for (const [text, code, column, hint] of [
    ['{ hooks: { /* path: "/hooks" } }\n', 'YAML_SYNTAX', 12, /^Write `\*\/` after it/],
    ["{ hooks: { path: '/it\\'s' } }\n", 'YAML_SYNTAX', 24, /^In single quotes/],
    ['{ hooks:{enabled:true} }\n', 'UNKNOWN_KEY', 10, /^Write a space after the colon/],
  ] as const) {
    const [finding] = await loadBad(context, text)
    assert.deepEqual([finding?.code, finding?.place?.column], [code, column], text)
    assert.match(finding?.hint ?? '', hint)
  }
})

test('a line break of JSON5 in single quotes is a warning in a template, and nowhere else', async (context) => {
  const mapping = (fields: string) => `{ hooks: { mappings: [{ ${fields} }] } }\n`
  for (const [text, named] of [
    [mapping("messageTemplate: 'From: {{a}}\\nSubject: {{b}}'"), 'messageTemplate'],
    [mapping("action: 'wake', textTemplate: 'a\\tb'"), 'textTemplate'],
    ["hooks:\n  mappings:\n    - { message: 'a\\nb' }\n", 'message'],
  ] as const) {
    const { warnings } = await loadGood(context, text)
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['SINGLE_QUOTED_BREAK'],
      text,
    )
    assert.match(`${warnings[0]?.message} ${warnings[0]?.hint}`, new RegExp(`${named}.*double quotes`))
    assert.equal(
      warnings[0]?.place?.column,
      (warnings[0]?.place?.text?.indexOf(`${named}: '`) ?? 0) + named.length + 3,
    )
  }
  for (const text of [
    mapping('message: "a\\nb"'),
    mapping("message: 'a\\\\nb'"),
    mapping("message: 'x', match: { body: { a: { pattern: '\\t\\d' } } }"),
    mapping('message: x, vars: { a: \'$split(b, "\\n")\' }'),
    "hooks:\n  mappings:\n    - message: 'a\\nb'\n",
  ])
    assert.deepEqual((await loadGood(context, text)).warnings, [], text)
})
