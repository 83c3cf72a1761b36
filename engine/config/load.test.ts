import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Environment, realFiles } from './file/load-context.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { type Files, load, loadBad, loadGood, onlyOne, plain, summary, testLoads } from './load-fixture.ts'

test('absent keys have their documented defaults', async (context) => {
  const { settings, folder } = await loadGood(context, 'gateway: {}\n')
  const { prompt, ...heartbeat } = settings.agents.defaults.heartbeat
  assert.match(prompt, /HEARTBEAT_OK/)
  assert.deepEqual(
    plain({
      ...settings,
      agents: { ...settings.agents, defaults: { ...settings.agents.defaults, heartbeat } },
    }),
    {
      file: folder.at('reveille.yaml'),
      gateway: {
        host: '127.0.0.1',
        port: 8787,
        tokens: [],
        holders: [],
        metricsTokens: [],
        trustedProxies: [],
        dataDir: folder.at('data'),
        store: 'sqlite',
        log: { level: 'info' },
        limits: { backlog: 1_000_000 },
        issues: { notify: true, severity: 'failing' },
      },
      hooks: {
        enabled: false,
        tokens: [],
        path: '/hooks',
        allowQueryToken: true,
        allowRequestSessionKey: true,
        maxBodyBytes: 1_048_576,
        bodyTimeoutMs: 10_000,
        maxActions: 100,
        maxRenderedBytes: 262_144,
        mappingsDir: folder.at('mappings'),
        transformsDir: folder.at('transforms'),
        transforms: { defaults: { timeoutMs: 5000, memoryMb: 128, concurrency: 4 }, modules: {} },
        reload: { requireTests: true, debounceMs: 50, restMs: 1000, poll: false },
      },
      history: { bodies: 'failed', keepMs: 604_800_000, ignoredMs: 3_600_000, maxBodyBytes: 1_073_741_824 },
      deliveries: { retryForMs: 86_400_000, retryUnsure: false, maxMessages: 10 },
      agents: {
        defaults: {
          runner: 'echo',
          timeoutSeconds: 600,
          concurrency: 4,
          retry: { attempts: 3, firstMs: 2000, maxMs: 120_000 },
          heartbeat: { everyMs: 1_800_000, idle: false, ackToken: 'HEARTBEAT_OK' },
        },
        sessions: { maxCharacters: 200_000, maxMessages: 200, compaction: 'drop', idleMs: 86_400_000 },
        prices: {},
        providers: {},
        runners: {},
      },
      channels: {},
      sources: {},
      observers: {},
      plugins: [],
    },
  )
})

testLoads(`
# written keys are in the settings, resolved
gateway: { host: 0.0.0.0, port: 0, auth: { token: admin }, dataDir: ./d, log: { level: trace, format: json } } ⇒ { settings: { gateway: { host: 0.0.0.0, port: 0, tokens: [admin], dataDir: '{folder}/d', log: { level: trace, format: json } } } }
hooks: { enabled: true, token: [one, two], path: in/hooks/, allowQueryToken: false, allowedSessionKeyPrefixes: ["hook:"], bodyTimeout: 250ms, mappingsDir: a/../b } || b/none.yaml: # none ⇒ { settings: { hooks: { enabled: true, tokens: [one, two], path: /in/hooks, allowQueryToken: false, allowedSessionKeyPrefixes: ['hook:'], bodyTimeoutMs: 250, mappingsDir: '{folder}/b' } } }
history: { bodies: all, keep: 30d } ⇒ { settings: { history: { bodies: all, keepMs: 2592000000 } } }
agents: { defaults: { model: fast, models: { openai/gpt-5: { alias: fast }, anthropic/claude-x: }, thinking: low } } ⇒ { settings: { agents: { defaults: { model: openai/gpt-5, models: { allowed: [openai/gpt-5, anthropic/claude-x], aliases: { fast: openai/gpt-5 } }, thinking: low } } } }
agents: { defaults: { heartbeat: { every: 1h, idle: true, ackToken: OK, prompt: "say {ackToken}" } } } ⇒ { settings: { agents: { defaults: { heartbeat: { everyMs: 3600000, idle: true, ackToken: OK, prompt: say OK } } } } }
agents: { runners: { claude: { kind: command, preset: claude } }, route: { channel: terminal, to: stdout } }⏎channels: { terminal: , slack: { botToken: x, nested: { a: [1] } } } ⇒ { settings: { agents: { runners: { claude: { kind: command, preset: claude } }, route: { channel: terminal, to: stdout } }, channels: { terminal: {}, slack: { botToken: x, nested: { a: [1] } } } } }
plugins: [./mine, a-package] ⇒ { settings: { plugins: ['{folder}/mine', a-package] } }
`)

test('settings are frozen, and maps by name have no prototype', async (context) => {
  const { settings } = await loadGood(
    context,
    'hooks: { token: one }\nchannels: { slack: { botToken: x } }\n',
  )
  assert.equal(Object.getPrototypeOf(settings.channels), null)
  assert.ok(Object.isFrozen(settings.hooks.tokens) && Object.isFrozen(settings.channels['slack']))
})

test('all mistakes are reported together, each at its place', async (context) => {
  const diagnostics = await loadBad(context, {
    'reveille.yaml': `gateway:
  prot: 1
  log: { level: inof }
hooks: { path: / , maxActions: 0 }
`,
    'mappings/a.yaml': 'mappings:\n  - mesage: x\n',
    'mappings/b.yaml': 'mappings: [\n',
  })
  assert.deepEqual(summary(diagnostics), [
    'UNKNOWN_KEY 2:3',
    'INVALID_VALUE 3:17',
    'HOOK_PATH_ROOT 4:16',
    'INVALID_VALUE 4:32',
    'UNKNOWN_KEY 2:5',
    'YAML_SYNTAX 2:1',
  ])
  const [unknown, level] = diagnostics
  assert.equal(unknown?.place?.text, '  prot: 1')
  assert.equal(unknown?.hint, 'Did you mean `port`?')
  assert.equal(level?.hint, 'Did you mean `info`?')
})

test('a missing configuration is reported with what to do', async (context) => {
  const folder = await createSampleFolder(context, {})
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
  assert.ok(!loaded.ok)
  const [{ message, hint, code } = assert.fail()] = loaded.diagnostics
  assert.equal(code, 'CONFIGURATION_NOT_FOUND')
  assert.match(message, /reveille\.yaml$/)
  assert.match(hint ?? '', /reveille init/)
})

test('a file above the limit, and a folder in its place, are refused', async (context) => {
  const long = `#${'x'.repeat(9 * 1024 * 1024)}`
  assert.equal((await onlyOne(context, { 'reveille.yaml': long })).code, 'FILE_TOO_LARGE')
  assert.equal((await onlyOne(context, { 'reveille.yaml/x': '' })).code, 'FILE_UNREADABLE')
})

test('a `.env` that the user may not read is the only error, with what to do about it', async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml':
      'hooks: { enabled: true, token: "${HOOK_TOKEN}" }\nagents: { route: { channel: none } }\n',
    '.env': '',
  })
  const forbidden = (file: string) => Promise.reject(Object.assign(new Error(file), { code: 'EACCES' }))
  const files = {
    ...realFiles,
    readFile: (file: string) => (file.endsWith('.env') ? forbidden(file) : realFiles.readFile(file)),
  }
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {}, files })
  assert.ok(!loaded.ok)
  const [{ code, message, hint } = assert.fail(), ...rest] = loaded.diagnostics
  assert.deepEqual(rest, [])
  assert.deepEqual([code, message], ['FILE_UNREADABLE', '.env may not be read by this user'])
  assert.match(hint ?? '', /as root, `chown` it to that user/)
})

testLoads(`
# JSON is accepted, with tabs
{⏎\t"gateway": {⏎\t\t"port": 1,⏎\t\t"auth": {"token": "\\u0061\\/b"}⏎\t}⏎} ⇒ { settings: { gateway: { port: 1, tokens: [a/b] } } }

# anchors, aliases and merges work
channels:⏎  one: &base { a: 1, b: [x] }⏎  two: { <<: *base, a: 2 }⏎  three: *base ⇒ { settings: { channels: { one: { a: 1, b: [x] }, two: { a: 2, b: [x] }, three: { a: 1, b: [x] } } } }

# gateway.store may be the address of a PostgreSQL database, and a reference; its password is a secret
gateway: { store: "\${DB}" } @ { DB: 'postgresql://ada:4fK29sLq0ZpVx81m@db1.example.com:5433,db2.example.com/reveille' } ⇒ { warnings: [], secrets: ['/^postgresql:.*reveille$/', 'ada:4fK29sLq0ZpVx81m', 4fK29sLq0ZpVx81m], settings: { gateway: { store: '/^postgresql:.*reveille$/' } } }
`)

test('aliases that would expand without end are refused', async (context) => {
  let bomb = 'channels:\n  a: &a { x: [1, 2, 3, 4, 5, 6, 7, 8, 9] }\n'
  for (const [before, name] of [...'abcdefgh'].map((letter, index) => [letter, 'bcdefghi'[index]])) {
    bomb += `  ${name}: &${name} { x: [${Array(9).fill(`*${before}`).join(', ')}] }\n`
  }
  assert.equal((await onlyOne(context, bomb)).code, 'TOO_MANY_ALIASES')
})

test('the tokens of a budget are shown in a diagnostic, because they are no secrets', async (context) => {
  const text = 'agents: { budget: { tokens: 0, rnus: 3 } }\nhooks: { tokens: hunter2 }\n'
  const [budget, , unknown] = await loadBad(context, text)
  assert.match(budget?.place?.text ?? '', /tokens: 0, rnus/)
  assert.doesNotMatch(JSON.stringify(unknown), /hunter2/)
})

test('names of properties of the prototype are ordinary names', async (context) => {
  const { endpoints } = await loadGood(context, 'hooks: { endpoints: { __proto__: { maxBodyBytes: 5 } } }\n')
  assert.deepEqual(Object.entries(endpoints), [['__proto__', { maxBodyBytes: 5 }]])
  assert.equal(Object.getPrototypeOf(endpoints), null)
})

test('the place of a key in the configuration is found by its path', async (context) => {
  const { locate } = await loadGood(context, 'channels:\n  slack:\n    botToken: hunter2\n')
  const { line, column, text } = locate(['channels', 'slack', 'botToken'])
  assert.deepEqual([line, column, text], [3, 15, '    botToken: …'])
})

test('a mistake about an indented block, or about a missing key in it, is reported at the key above it', async (context) => {
  const { locate } = await loadGood(context, 'channels:\n  slack:\n    botToken: hunter2\n  sms: {}\n')
  const placeOf = (...path: readonly string[]) => {
    const { line, column } = locate(path)
    return [line, column]
  }
  assert.deepEqual(placeOf('channels', 'slack'), [2, 3])
  assert.deepEqual(placeOf('channels', 'slack', 'nothing', 'deeper'), [2, 3])
  assert.deepEqual(placeOf('channels', 'sms'), [4, 8])
})

async function digestOf(context: TestContext, files: Files, env: Environment = {}): Promise<string> {
  return (await loadGood(context, files, env)).digest
}

test('the digest depends on the content alone', async (context) => {
  const files = { 'reveille.yaml': 'hooks: { token: "${TOKEN}" }\n', 'mappings/a.yaml': 'mappings: []\n' }
  const digest = await digestOf(context, files, { TOKEN: 'a', OTHER: 'x' })
  assert.match(digest, /^[0-9a-f]{64}$/)
  assert.equal(await digestOf(context, { ...files, 'notes.txt': 'x' }, { TOKEN: 'a', OTHER: 'y' }), digest)
  assert.equal(await digestOf(context, { ...files, '.env': 'UNUSED=1\nTOKEN=a\n' }), digest)
  const others = [
    await digestOf(context, files, { TOKEN: 'b' }),
    await digestOf(context, { ...files, 'mappings/a.yaml': 'mappings: [ ]\n' }, { TOKEN: 'a' }),
    await digestOf(
      context,
      { 'reveille.yaml': files['reveille.yaml'], 'mappings/b.yaml': 'mappings: []\n' },
      { TOKEN: 'a' },
    ),
  ]
  assert.equal(new Set([digest, ...others]).size, 4)
})

test('all files that may change a configuration are watched, also if it did not load', async (context) => {
  const text = 'hooks: { token: "${file:./secret}", mappingsDir: m }\n'
  const { folder, loaded } = await load(context, { 'reveille.yaml': text, 'm/a.yaml': '' })
  assert.ok(!loaded.ok)
  assert.deepEqual([...loaded.watched].sort(), ['.env', 'm', 'reveille.yaml', 'secret'].map(folder.at))
})

test('the folder and the environment of a broken configuration are still watched', async (context) => {
  const { folder, loaded } = await load(context, 'hooks: [\n')
  assert.ok(!loaded.ok)
  assert.deepEqual([...loaded.watched].sort(), ['.env', 'reveille.yaml'].map(folder.at))
})
