import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Environment, realFiles } from './file/load-context.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { type Files, filesOf, load, loadBad, loadGood, onlyOne, testLoads } from './load-fixture.ts'

testLoads(`
# absent keys have their documented defaults
gateway: {} ⇒ { settings: { gateway: { host: 127.0.0.1, port: 8787, tokens: [], holders: [], metricsTokens: [], trustedProxies: [], dataDir: '{folder}/data', store: sqlite, log: { level: info, format: null }, limits: { backlog: 1000000 }, issues: { notify: true, severity: failing } } } }
gateway: {} ⇒ { settings: { hooks: { enabled: false, tokens: [], path: /hooks, allowQueryToken: true, allowRequestSessionKey: true, maxBodyBytes: 1048576, bodyTimeoutMs: 10000, maxActions: 100, maxRenderedBytes: 262144, mappingsDir: '{folder}/mappings', transformsDir: '{folder}/transforms', transforms: { defaults: { timeoutMs: 5000, memoryMb: 128, concurrency: 4 }, modules: {} }, reload: { requireTests: true, debounceMs: 50, restMs: 1000, poll: false } } } }
gateway: {} ⇒ { settings: { history: { bodies: failed, keepMs: 604800000, ignoredMs: 3600000, maxBodyBytes: 1073741824 }, deliveries: { retryForMs: 86400000, retryUnsure: false, maxMessages: 10 }, channels: {}, sources: {}, observers: {}, plugins: [] } }
gateway: {} ⇒ { settings: { agents: { defaults: { runner: echo, model: null, timeoutSeconds: 600, concurrency: 4, retry: { attempts: 3, firstMs: 2000, maxMs: 120000 }, heartbeat: { everyMs: 1800000, idle: false, ackToken: HEARTBEAT_OK, prompt: /HEARTBEAT_OK/, quietHours: null } }, sessions: { maxCharacters: 200000, maxMessages: 200, compaction: drop, idleMs: 86400000 }, budget: null, prices: {}, providers: {}, runners: {} } } }

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
  const text =
    'hooks: { token: one, endpoints: { __proto__: { maxBodyBytes: 5 } } }\nchannels: { slack: {} }\n'
  const { settings, endpoints } = await loadGood(context, text)
  assert.deepEqual(Object.entries(endpoints), [['__proto__', { maxBodyBytes: 5 }]])
  assert.equal(Object.getPrototypeOf(settings.channels), null)
  assert.ok(Object.isFrozen(settings.hooks.tokens) && Object.isFrozen(settings.channels['slack']))
})

test('a missing configuration is reported with what to do', async (context) => {
  const folder = await createSampleFolder(context, {})
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
  assert.ok(!loaded.ok)
  const [{ message, hint, code } = assert.fail()] = loaded.diagnostics
  assert.match(`${code} ${message} ${hint}`, /^CONFIGURATION_NOT_FOUND .*reveille\.yaml .*reveille init/)
})

test('a file above the limit, and a folder in its place, are refused', async (context) => {
  const long = `#${'x'.repeat(9 * 1024 * 1024)}`
  assert.equal((await onlyOne(context, { 'reveille.yaml': long })).code, 'FILE_TOO_LARGE')
  assert.equal((await onlyOne(context, { 'reveille.yaml/x': '' })).code, 'FILE_UNREADABLE')
})

test('a `.env` that the user may not read is the only error, with what to do about it', async (context) => {
  const text = 'hooks: { enabled: true, token: "${HOOK_TOKEN}" }\nagents: { route: { channel: none } }\n'
  const folder = await createSampleFolder(context, { 'reveille.yaml': text, '.env': '' })
  const forbidden = (file: string) => Promise.reject(Object.assign(new Error(file), { code: 'EACCES' }))
  const files = {
    ...realFiles,
    readFile: (file: string) => (file.endsWith('.env') ? forbidden(file) : realFiles.readFile(file)),
  }
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {}, files })
  assert.ok(!loaded.ok)
  const [{ code, message, hint } = assert.fail(), ...rest] = loaded.diagnostics
  assert.deepEqual([code, message, rest], ['FILE_UNREADABLE', '.env may not be read by this user', []])
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
  for (const [before, name] of [...'abcdefgh'].map((letter, index) => [letter, 'bcdefghi'[index]]))
    bomb += `  ${name}: &${name} { x: [${Array(9).fill(`*${before}`).join(', ')}] }\n`
  assert.equal((await onlyOne(context, bomb)).code, 'TOO_MANY_ALIASES')
})

test('the tokens of a budget are shown in a diagnostic, because they are no secrets', async (context) => {
  const text = 'agents: { budget: { tokens: 0, rnus: 3 } }\nhooks: { tokens: hunter2 }\n'
  const [budget, , unknown] = await loadBad(context, text)
  assert.match(budget?.place?.text ?? '', /tokens: 0, rnus/)
  assert.doesNotMatch(JSON.stringify(unknown), /hunter2/)
})

test('the digest that nodes share leaves out what each has for itself, and nothing that decides', async (context) => {
  const sharedDigest = async (gateway: string, more: Record<string, string> = {}, env: Environment = {}) => {
    const files = { 'reveille.yaml': `gateway: { ${gateway} }\nhooks: { token: "\${TOKEN}" }\n`, ...more }
    return (await loadGood(context, files, { TOKEN: 'a', ...env })).sharedDigest
  }
  const shared = await sharedDigest('')
  const local = 'port: 9000, host: 0.0.0.0, log: { level: debug }'
  for (const own of [local, 'dataDir: ./b', 'dataDir: ~/reveille', 'dataDir: "${DATA:-data}"'])
    assert.equal(await sharedDigest(own, {}, { DATA: own }), shared, own)
  const policy = (token: string) => ({
    'mappings/a.yaml': `endpoints: { a: { auth: token, token: ${token} } }\nmappings: [{ id: a, match: { path: a }, action: wake, text: a }]\n`,
  })
  const others = [
    await sharedDigest('limits: { backlog: 5 }'),
    await sharedDigest('', {}, { TOKEN: 'b' }),
    await sharedDigest('', policy('one')),
    await sharedDigest('', policy('"${DATA}"'), { DATA: 'one' }),
    await sharedDigest('dataDir: "${DATA}"', policy('"${DATA}"'), { DATA: 'two' }),
  ]
  assert.equal(new Set([shared, ...others]).size, 6)
})

test('the place of a key is found by its path, and that of an indented block, or of a missing key in it, at the key above it', async (context) => {
  const { locate } = await loadGood(context, 'channels:\n  slack:\n    botToken: hunter2\n  sms: {}\n')
  for (const [path, place] of [
    ['channels.slack.botToken', [3, 15, '    botToken: …']],
    ['channels.slack', [2, 3, '  slack:']],
    ['channels.slack.nothing.deeper', [2, 3, '  slack:']],
    ['channels.sms', [4, 8, '  sms: {}']],
  ] as const) {
    const { line, column, text } = locate(path.split('.'))
    assert.deepEqual([line, column, text], place, path)
  }
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
  const renamed = { 'reveille.yaml': files['reveille.yaml'], 'mappings/b.yaml': 'mappings: []\n' }
  const others = [
    await digestOf(context, files, { TOKEN: 'b' }),
    await digestOf(context, { ...files, 'mappings/a.yaml': 'mappings: [ ]\n' }, { TOKEN: 'a' }),
    await digestOf(context, renamed, { TOKEN: 'a' }),
  ]
  assert.equal(new Set([digest, ...others]).size, 4)
})

test('the files of a configuration are watched, and a change of one changes the digest', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: { token: "${file:./secret}", presets: [shop] }\n',
    'mappings/a.yaml':
      'mappings: [{ message: x, schema: ../schema.json }]\ntests: [{ request: { endpoint: a, bodyFile: ../body.txt }, expect: { status: 400 } }]\n',
    'schema.json': '{"type": "object"}',
    'body.txt': '{}',
    secret: 'p0Yt7RcB1WmX8vZq4LsK2fNd',
    'shipped/shop.yaml': 'mappings: [{ id: shop, message: x }]\n',
  }
  const { folder, digest, watched } = await loadGood(context, files)
  for (const [name, text] of Object.entries(files)) {
    assert.ok(
      watched.some((path) => folder.at(name).startsWith(path)),
      name,
    )
    const changed = name === 'secret' ? 'uG3jQ9dT5hE1oS6xAaVzP8yM' : `${text} `
    assert.notEqual(await digestOf(context, { ...files, [name]: changed }), digest, name)
  }
  assert.equal(await digestOf(context, { ...files, 'shipped/other.yaml': 'mappings: []\n' }), digest)
})

for (const [text, watched] of [
  ['hooks: { token: "${file:./secret}", mappingsDir: m }\n', ['.env', 'm', 'reveille.yaml', 'secret']],
  ['hooks: [\n', ['.env', 'reveille.yaml']],
] as const)
  test(`files that may fix ${text.trim()} are watched`, async (context) => {
    const { folder, loaded } = await load(context, { 'reveille.yaml': text, 'm/a.yaml': '' })
    assert.ok(!loaded.ok)
    assert.deepEqual([...loaded.watched].sort(), watched.map(folder.at))
  })

testLoads(`
# the process environment takes precedence over .env, and both over the default
agents: { defaults: { systemPrompt: "\${A:-x} \${B:-x} \${C:-x} \${D:-x}" } } || .env: A=file⏎B="from file"⏎D= @ { A: process } ⇒ { settings: { agents: { defaults: { systemPrompt: process from file x x } } } }

# numbers and booleans may come from references
gateway: { port: "\${PORT}" }⏎hooks: { allowQueryToken: "\${QUERY}", token: "\${NUMBER}" } @ { PORT: '0', QUERY: 'false', NUMBER: '12345' } ⇒ { settings: { gateway: { port: 0 }, hooks: { allowQueryToken: false, tokens: ['12345'] } } }

# a file reference is relative to the configuration and loses one line break
hooks: { token: "\${file:./run/token.txt}" } || run/token.txt: hook-secret␍ ⇒ { settings: { hooks: { tokens: [hook-secret] } } }

# $\${ is a plain \${, and a value with one in it is not resolved again
agents: { defaults: { systemPrompt: "$\${HOME} \${A}" } } @ { A: '\${B}', B: never } ⇒ { settings: { agents: { defaults: { systemPrompt: '\${HOME} \${B}' } } } }

# channels and endpoint policies are resolved, and mappings are left as they are
channels: { slack: { deep: [{ botToken: "\${A}" }] } } || mappings/a.yaml: endpoints: { gh: { maxBodyBytes: "\${SIZE}" } } @ { A: a, SIZE: '9' } ⇒ { settings: { channels: { slack: { deep: [{ botToken: a }] } } }, endpoints: { gh: { maxBodyBytes: 9 } } }
hooks: { mappings: [{ message: "cost \${NOPE}", match: { when: "a = '\${NOPE}'" } }] } ⇒ { mappings: [{ value: { message: 'cost \${NOPE}', match: { when: "a = '\${NOPE}'" } } }] }
{} || mappings/a.yaml: mappings: [{ message: "cost \${NOPE}" }] ⇒ { mappings: [{ value: { message: 'cost \${NOPE}' } }] }
`)

test('an invalid value is reported with its key and never shown', async (context) => {
  const diagnostics = await loadBad(context, 'gateway: { port: "${PORT}" }\n', { PORT: 'eighty' })
  const found = `${diagnostics[0]?.message} ${diagnostics[0]?.hint}`
  assert.match(found, /`gateway\.port` must be a whole number.*reference/)
  assert.ok(!JSON.stringify(diagnostics).includes('eighty'))
})

test('every unset name is reported with its key, and its absence causes no further diagnostics', async (context) => {
  const text = 'gateway: { auth: { token: "${ADMIN}" } }\nhooks: { enabled: true, token: ["${ONE}${TWO}"] }\n'
  const found = (await loadBad(context, text)).map(({ code, message }) => `${code} ${message}`)
  const wanted = ['gateway.auth.token ADMIN', 'hooks.token[0] ONE', 'hooks.token[0] TWO'].map((each) =>
    each.split(' '),
  )
  const say = ([key, name]: readonly string[]) =>
    `\`${key}\` refers to the variable ${name}, which is not set`
  const all = wanted.map((each) => `UNRESOLVED_REFERENCE ${say(each)}`)
  assert.deepEqual(found, all)
})

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

testLoads(
  `
# a test is in the configuration as written, with its place and a name
- { name: opened, request: { endpoint: github, headers: { X-GitHub-Event: push }, query: { a: b }, body: { action: opened, user: null, text: "\${NO}" } }, now: 2026-01-01T00:00:00Z, expect: { mapping: pr, action: agent, message: { contains: ["#42", title], not: { prefix: x } }, deliver: false, timeoutSeconds: 60, deliverTo: [{ channel: slack, to: { prefix: C } }] } } ⇒ { tests: [{ label: 'mappings/a.yaml:2:5', origin: { kind: file, name: mappings/a.yaml }, value: { name: opened, request: { endpoint: github, headers: { x-github-event: push }, query: { a: b }, body: { action: opened, user: null, text: '\${NO}' } }, now: '2026-01-01T00:00:00Z', expect: { mapping: pr, action: agent, message: { contains: ['#42', title], not: { prefix: x } }, deliver: false, timeoutSeconds: 60, deliverTo: [{ channel: slack, to: { prefix: C } }] } } }] }
- { name: one, request: { endpoint: a }, expect: { status: 200 } }⏎  - { request: { endpoint: github }, expect: { outcome: ignored } } ⇒ { tests: [{}, { value: { name: test 2, request: { endpoint: github }, expect: { outcome: ignored } } }] }

# a body may be in a file
- { request: { endpoint: a, bodyFile: ../a.txt }, expect: { status: 400 } } || a.txt: {"id": 12345678901234567890 ⇒ { tests: [{ value: { request: { body: null, bodyText: '/^\\{"id": 12345678901234567890\\s$/' } } }] }

# tests of two files may share a name
- { name: same, request: { endpoint: a }, expect: { status: 200 } } || mappings/b.yaml: tests: [{ name: same, request: { endpoint: a }, expect: { status: 200 } }] ⇒ { tests: [{ value: { name: same } }, { value: { name: same }, label: 'mappings/b.yaml:1:9' }] }

# a body with numbers that YAML cannot hold keeps their digits
- { request: { endpoint: shop, body: { id: 820982911946154508, same: [-820982911946154508, 1.5, 7], "__proto__": { a: "\\"" }, none: null } }, expect: { outcome: ignored } } ⇒ { tests: [{ value: { request: { body: null, bodyText: '{"id":820982911946154508,"same":[-820982911946154508,1.5,7],"__proto__":{"a":"\\""},"none":null}' } } }] }

# a time may have another zone, or be a day alone
- { request: { endpoint: a }, now: 2026-01-01T00:00Z, expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-01-01T00:00Z' } }] }
- { request: { endpoint: a }, now: "2026-01-01T00:00:00.123+05:30", expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-01-01T00:00:00.123+05:30' } }] }
- { request: { endpoint: a }, now: 2024-02-29, expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2024-02-29' } }] }
- { request: { endpoint: a }, now: "2026-12-31T23:59:59-11:00", expect: { status: 200 } } ⇒ { tests: [{ value: { now: '2026-12-31T23:59:59-11:00' } }] }
`,
  (text) => filesOf(`{} || mappings/a.yaml: tests:\n  ${text}`),
)

testLoads(`
# keys of OpenClaw that ask for the default behaviour load without a warning, and have no effect
hooks: { defaultSessionKey: " hook:ingress ", allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"], allowedAgentIds: ["*", main] } ⇒ { warnings: [], settings: { hooks: { defaultSessionKey: 'hook:ingress', allowRequestSessionKey: true, allowedAgentIds: ['*', main] } } }
hooks: { mappings: [{ message: x, agentId: Main, sessionMode: persistent, sessionKey: "hook:x" }] } ⇒ { warnings: [], mappings: [{ value: { agentId: null, sessionMode: null, sessionKey: 'hook:x' } }] }
hooks: { defaultSessionKey: a, mappings: [{ message: x, sessionMode: isolated }, { message: x, busy: reject }] } ⇒ { warnings: [], mappings: [{ value: { sessionMode: null } }, { value: { busy: reject } }] }

# comments of JSON5 are recognised between brackets and around them, also in lists of texts
// ~/.openclaw/openclaw.json⏎{⏎ hooks: {⏎ // about the path⏎ path: "/hooks", // with a slash⏎ token: [⏎ // newest first⏎ "new-9f2c77b1e04d4a6c8e35", "old-9f2c77b1e04d4a6c8e35" ],⏎ allowedSessionKeyPrefixes: [⏎ // ours⏎ "hook:" ],⏎ presets: [ // mail⏎ "gmail" ],⏎ mappings: [ /* one */ { match: { headers: { x-a: [ // any⏎ "b", "c" ] } }, message: "see // this" } ],⏎ },⏎ agents: { defaults: { models: [ // cheap⏎ "openai/gpt-5-mini" ] } }⏎}⏎/* the end */ || shipped/gmail.yaml: mappings: [{ id: mail, match: { path: gmail }, message: x }] ⇒ { warnings: [], settings: { hooks: { tokens: [new-9f2c77b1e04d4a6c8e35, old-9f2c77b1e04d4a6c8e35], allowedSessionKeyPrefixes: ['hook:'] }, agents: { defaults: { models: { allowed: [openai/gpt-5-mini] } } } }, mappings: [{ id: 'reveille.yaml#1', value: { match: { headers: { x-a: [b, c] } }, message: see // this } }, { id: mail }] }
`)

testLoads(`
# a transform is called by its module's normalised name, and limits apply to all modules, or to one of them
hooks:⏎  transforms: { timeout: 2s, concurrency: 8, modules: { ./review.ts: { timeout: 1m, memoryMb: 512 } } }⏎  mappings: [{ transform: { module: ./a/../review.ts, export: pull } }] ⇒ { mappings: [{ value: { transform: { module: review.ts, export: pull } } }], settings: { hooks: { transforms: { defaults: { timeoutMs: 2000, memoryMb: 128, concurrency: 8 }, modules: { review.ts: { timeoutMs: 60000, memoryMb: 512 } } } } }, warnings: [] }
hooks: { reload: { requireTests: false, debounce: 1s, rest: 2s, poll: true } } ⇒ { settings: { hooks: { reload: { requireTests: false, debounceMs: 1000, restMs: 2000, poll: true } } } }

# known secrets are the values of keys that are named like secrets, from eight characters on
hooks:⏎  token: literal-hook-token-1⏎  mappings: [{ transform: { module: a.ts, with: { apiKey: literal-key, pin: { password: short, note: harmless text } } } }] ⇒ { secrets: [literal-hook-token-1, literal-key] }

# only transform.with of a mapping may refer to the environment and to files, whose values are secrets; the mapping keeps the references
hooks: { token: "\${HOOK_TOKEN}" } || key.txt: file-key-0123 || mappings/jira.yaml: mappings: [{ id: jira, match: { path: jira }, message: "plain \${JIRA_TOKEN}", transform: { module: jira.ts, with: { token: "\${JIRA_TOKEN}", url: "https://\${JIRA_HOST:-jira.example}/api", key: "\${file:key.txt}", plain: "$\${NOT}", team: platform, labels: [a, 2, { deep: "\${JIRA_TOKEN}" }], retries: 3, strict: true, none: } } }] @ { JIRA_TOKEN: jira-token-0123, HOOK_TOKEN: 4fK29sLq0ZpVx81mWnB7cRtY } ⇒ { secrets: [4fK29sLq0ZpVx81mWnB7cRtY, jira-token-0123, file-key-0123], mappings: [{ parameters: { token: jira-token-0123, url: 'https://jira.example/api', key: file-key-0123, plain: '\${NOT}', team: platform, labels: [a, 2, { deep: jira-token-0123 }], retries: 3, strict: true, none: null }, value: { message: 'plain \${JIRA_TOKEN}', transform: { with: { token: '\${JIRA_TOKEN}' } } } }] }
`)

test('a value of a reference is watched and frozen, part of the digest, and in no source of a generation', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: {}\n',
    key: 'key-0123\n',
    'mappings/a.yaml':
      'mappings: [{ message: x, transform: { module: a.ts, with: { keys: ["${file:key}", "${A}"] } } }]\n',
  }
  const { mappings, sources, watched, digest, folder } = await loadGood(context, files, { A: 'a-0123' })
  assert.ok(Object.isFrozen(mappings[0]?.parameters?.['keys']))
  assert.ok(watched.includes(folder.at('key')))
  assert.ok(!JSON.stringify([...sources]).includes('0123'))
  assert.notEqual((await loadGood(context, files, { A: 'a-4567' })).digest, digest)
})
