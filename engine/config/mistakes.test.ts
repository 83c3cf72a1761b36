/** Tests where mistakes are reported, and as what. Others, with their exact texts, are in `test/mistakes` and in the recording. */

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { diagnose, type Files, filesOf, summary, testTables } from './load-fixture.ts'

const hook = 'p0Yt7RcB1WmX8vZq4LsK2fNd'
const admin = '4fK29sLq0ZpVx81mWnB7cRtY'
const good = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const enabled = `hooks:\n  enabled: true\n  token: ${hook}\n`
const start = `gateway: { auth: { token: ${admin} } }\n${enabled}`
const whole = (text: string) => `${text}\n`
const policy = (text: string) => `${start}  endpoints:\n    forge:\n${text.replace(/^/gm, '      ')}\n`

const hexKey = 'a1'.repeat(32)
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
const spki = p256.export({ type: 'spki', format: 'der' }).toString('base64')
const pem = JSON.stringify(p256.export({ type: 'spki', format: 'pem' }).toString())

const hmac = `provider: hmac, secret: ${good}, hmac: { header: x-sig }`

const forge = `provider: github, secret: ${good}`
const shop = `provider: stripe, secret: ${good}`
const token = 'github_pat_11AAAA0000000000000000'
const mapping = 'mappings: [{ id: f, match: { path: forge }, message: x }]\n'

/** The files that a text stands for, by the title of its table. */
const wraps: Readonly<Record<string, (text: string) => Files>> = {
  ...{ 'a configuration': whole, tokens: whole, JSON5: whole, 'no authentication': whole },
  agents: (text) => `agents: { ${text} }\n`,
  transforms: (text) => `hooks:\n  ${text}\n`,
  'a mapping': (text) => ({ 'mappings/a.yaml': `mappings:\n  - ${text}\n` }),
  'a test': (text) => ({ 'mappings/a.yaml': `tests:\n  - ${text}\n` }),
  'a policy': policy,
  'a rate': (text) => `hooks: { endpoints: { gh: { rate: { ${text} } } } }\n`,
  'policies of endpoints': (text) => `${start}  endpoints:\n    ${text}\n`,
  'a signature': (text) => `${enabled}  endpoints:\n    forge:\n      ${text}\n`,
  'a challenge': (text) => `${enabled}  endpoints:\n    forge:\n      verify: { ${text} }\n`,
  'a catch-up': (text) => `${start}  mappings: [{ message: x }]\n  endpoints:\n    forge: ${text} } }\n`,
  'a mailbox': (text) => ({
    'reveille.yaml': `hooks:\n  token: ${hook}\n  ${text}\n`,
    'shipped/gmail.yaml': 'mappings: [{ id: mail, match: { path: gmail }, message: x }]\n',
  }),
  'a key of OpenClaw': (text) => `hooks: { ${text} }\n`,
  files: filesOf,
  'a policy of the configuration, and of a file': (text) => {
    const [own = '', other = ''] = text.split(' || ')
    return {
      'reveille.yaml': `gateway: { host: 0.0.0.0 }\nhooks: { endpoints: { forge: { ${own} } } }\n`,
      'mappings/a.yaml': `endpoints: { forge: { ${other} } }\n${mapping}`,
    }
  },
  'a policy of the configuration, and of a preset': (text) => {
    const [own = '', provider = ''] = text.split(' || ')
    return {
      'reveille.yaml': `${start}  presets: [forge]\n  endpoints:\n    forge: { ${own} }\n`,
      'shipped/forge.yaml': `endpoints: { forge: { verify: { provider: ${provider}, secret: "\${FORGE:-}" } } }\n${mapping}`,
    }
  },
}

testTables(
  wraps,
  `
# a configuration
ok                          # hooks:⏎#   enabled: true ¦ hooks: { endpoints: { gh: { expectEvery: 1h } } }
YAML_SYNTAX                 channels:⏎  slack: §*nothing
TOO_MANY_ALIASES            channels: { a: &a { b: §*a } } => inside its own anchor
UNKNOWN_KEY+UNKNOWN_KEY     §__proto__: { gateway: {} }⏎§constructor: 1
UNKNOWN_KEY                 \ufeff§gatway: {}⏎hooks: {} ¦ agents: { defaults: { systemPrompt: "é😀", §thinkin: low } }
INVALID_VALUE+INVALID_VALUE hooks:⏎  endpoints:⏎    one: &base⏎      maxBodyBytes: §§none⏎    two:⏎      <<: *base
INVALID_VALUE               gateway: { store: §mysql://ada:4fK29sLq0ZpVx81m@db/x } ¦ gateway: { store: §"postgres:// ada@db" } ¦ gateway: { store: §Sqlite } ¦ hooks: { endpoints: { gh: { expectEvery: §31d } } }
~SECRET_WEAK                gateway: { store: §"postgres://ada:changeme-changeme@db/reveille" } => has a password that can be guessed
REFERENCE_SYNTAX            gateway:⏎  host: §"\${a b}"
UNRESOLVED_REFERENCE        hooks:⏎  token:⏎    - §"\${NOPE}"⏎    - ""
UNRESOLVED_REFERENCE        hooks: { token: §"\${file:/no/such/file}" } => refers to the file /no/such/file, which does not exist
# tokens
TOKEN_SHARED                gateway: { auth: { token: ${hook} } }⏎hooks: { token: [${good}, §${hook}] } ¦ gateway: { auth: { token: ${hook} }, metrics: { token: §${hook} } } ¦ gateway: { metrics: { token: §${hook} } }⏎hooks: { token: ${hook} }
TOKEN_SHARED                gateway: { metrics: { token: ${good} } }⏎hooks: { endpoints: { github: { token: §${good} } }, mappings: [{ match: { path: github }, message: x }] } ¦ hooks: { token: §${good} }⏎gateway: { auth: { token: [${admin}, ${good}] } }
~TOKEN_SHORT                gateway: { auth: { token: §k3v9-pq2x-77 } } => openssl rand -hex 24
TOKEN_EMPTY+TOKEN_EMPTY+TOKEN_INVALID gateway: { auth: { token: §"" } }⏎hooks: { token: [§"  ", §"two\\nlines"] }
TOKEN_SHARED                gateway: { auth: { token: ${admin}, tokens: [{ name: ada, token: §${admin}, may: read }] } } ¦ gateway: { auth: { tokens: [{ name: ada, token: ${admin}, may: read }, { name: eve, token: §${admin}, may: read }] } } ¦ gateway: { auth: { tokens: [{ name: ada, token: ${hook}, may: read }] } }⏎hooks: { token: §${hook} }
TOKEN_NAME_SHARED           gateway: { auth: { tokens: [{ name: ada, token: ${admin}, may: read }, { name: §ada, token: ${good}, may: read }] } }
TOKEN_NAME_SHARED           gateway: { auth: { tokens: [{ name: §owner, token: ${admin}, may: read }] } } => gateway.auth.token
ok                          gateway: { host: 0.0.0.0 }⏎hooks: { enabled: true, token: ${hook}, allowQueryToken: false } ¦ gateway: { host: 0.0.0.0 }⏎hooks: { token: ${hook} }
# agents
INVALID_MODEL               defaults: { model: openai/gpt-4, models: { openai/gpt-5: { alias: fast }, anthropic/x: { alias: §fast } } } ¦ defaults: { model: §a/b, models: [c/d] }
INVALID_VALUE               defaults: { models: [§gpt-5] } ¦ defaults: { heartbeat: { quietHours: { from: "22:00", to: §"22:00" } } } ¦ defaults: { retry: { backoff: §25d, maxBackoff: 24d } } ¦ sessions: { compaction: §summarize } ¦ budget: §{}
INVALID_VALUE+INVALID_VALUE defaults: { heartbeat: { quietHours: { from: §"24:00", to: §"7:00" } } }
UNKNOWN_TIMEZONE            defaults: { heartbeat: { quietHours: { from: "22:00", to: "07:00", timezone: §Europe/Berlim } } } => Did you mean \`Europe/Berlin\`?
UNKNOWN_TIMEZONE            defaults: { heartbeat: { quietHours: { from: "22:00", to: "07:00", timezone: §"+01:00" } } }
INVALID_VALUE               sessions: { maxCharacters: §999 } => \`agents.sessions.maxCharacters\` must be
INVALID_NAME+INVALID_NAME   providers: { §"my own": { apiKey: sekret }, §a/b: { apiKey: sekret } }
UNKNOWN_PROVIDER            providers: { openai: {}, local: {} }, defaults: { runner: ai, model: §opnai/gpt-5 } => Did you mean \`openai\`?
UNKNOWN_PROVIDER            providers: { openai: {}, local: {} }, defaults: { runner: mine, model: §anthropic/claude-x }, runners: { mine: { kind: ai } } => There are openai, local.
UNKNOWN_PROVIDER            providers: { openai: {} }, defaults: { runner: ai, model: §fast, models: { google/flash: { alias: fast } } }
ok                          providers: { local: {} }, defaults: { runner: ai, model: local/llama/3 } ¦ providers: { openai: {} }, defaults: { runner: ai, model: fast, models: { openai/gpt-5: { alias: fast } } }
ok                          providers: { openai: {} }, defaults: { model: anthropic/claude-x } ¦ providers: { openai: {} }, defaults: { runner: mine, model: x/y }, runners: { mine: { kind: command } } ¦ defaults: { runner: ai, model: anthropic/claude-x }
MODEL_WITHOUT_PRICE         budget: { usd: §5 } => \`agents.defaults.model\` names none
MODEL_WITHOUT_PRICE         defaults: { model: ollama/llama }, budget: { usd: §5 } => agents.prices: { "ollama/llama"
ok                          defaults: { model: openai/gpt-5 }, budget: { usd: 5 } ¦ defaults: { model: ollama/llama }, prices: { ollama/llama: { input: 0, output: 0 } }, budget: { usd: 5 } ¦ defaults: { model: mini, models: { openai/gpt-5-mini: { alias: mini } } }, budget: { usd: 5 }
UNKNOWN_CHANNEL             route: { channel: §termnal } }⏎channels: { terminal: {} => Did you mean \`terminal\`?
# transforms
INVALID_VALUE               transforms: { modules: { review.ts: { timeout: §30d } } } ¦ reload: { debounce: §2m }
~UNUSED_FIELD               transforms: { modules: { §reveiw.ts: {} } }⏎  mappings: [{ transform: { module: a/../review.ts } }] => Did you mean \`review.ts\`?
DUPLICATE_FIELD             transforms: { modules: { review.ts: {}, §./review.ts: {} } }⏎  mappings: [{ transform: { module: review.ts } }]
INVALID_PATH                mappings: [{ transform: { module: §'../x.ts' } }] => Put the module below
INVALID_PATH                mappings: [{ transform: { module: §'a/../../x.ts' } }] ¦ mappings: [{ transform: { module: §'/etc/x.ts' } }] ¦ mappings: [{ transform: { module: §'C:\\x.ts' } }] ¦ mappings: [{ transform: { module: §'..' } }]
INEXACT_NUMBER              mappings: [{ transform: { module: a.ts, with: { id: §9007199254740993 } } }] => Give it as text: "9007199254740993".
~UNRENDERED_TEMPLATE        mappings: [{ transform: { module: a.ts, with: { team: §"{{payload.team}}", label: "{{" } } }] => The transform reads the payload itself
UNRESOLVED_REFERENCE        mappings: [{ transform: { module: a.ts, with: { list: [§"\${file:none}"] } } }] => transform.with.list[0]\` refers to the file none
# a mapping
INVALID_VALUE               { message: x, match: { body: §{} } } ¦ { message: x, match: { headers: { a: §{} } } } ¦ { message: x, match: { headers: { a: §[] } } } ¦ { message: x, match: { headers: { a: §1 } } } ¦ { message: x, vars: { a: §1 } } ¦ { message: x, forEach: §" " } ¦ { message: x, deliverTo: §[] }
DUPLICATE_FIELD             { message: x, match: { headers: { X-A: "1", §x-a: "2" } } } ¦ { message: x, deliverTo: [{ channel: slack }], §channel: slack } ¦ { message: x, §messageTemplate: y } ¦ { message: x, mode: now, §wakeMode: next-heartbeat }
INVALID_PATH                { message: x, match: { path: §"a/:" } } ¦ { message: x, match: { path: §"a/:b-c" } } ¦ { message: x, match: { path: §":a/b/:a" } } ¦ { message: x, match: { path: §"//" } } ¦ { message: x, match: { path: §"a/../b" } }
~ODD_PATH                   { message: x, match: { path: §my%20hook } } => Write the character itself
ok                          { message: x, match: { path: "my hook" } } ¦ { message: x, match: { path: hooks } } ¦ { message: x, match: { path: 50% } } ¦ { message: x, match: { body: { id: 9007199254740991, ratio: 1.5, far: 1e30 } } }
INVALID_NAME                { message: x, vars: { §a-b: "1" } }
INVALID_VALUE               { message: x, schema: §1 } ¦ { message: x, id: §"a\\nb" } ¦ { message: x, coalesce: { key: §" " } } ¦ { message: x, coalesce: { key: ref, keep: §first } } ¦ { message: x, busy: §drop }
INEXACT_NUMBER              { message: x, match: { body: { a: { b: [1, §12345678901234567890] } } } }
INEXACT_NUMBER              { message: x, match: { body: { user: { id: §9007199254740993 } } } } => when: user.id = "9007199254740993"
~UNUSED_FIELD               { message: x, §busy: reject } => without \`sessionKey\`
ok                          { message: x, busy: queue, coalesce: { key: a } } ¦ { message: x, busy: reject, sessionKey: "hook:{{a}}" } ¦ { message: x, coalesce: { key: ref, window: 10m, maxWait: 10m } } ¦ { messageTemplate: x, sessionKey: "hook:z", sessionMode: persistent } ¦ { message: x, sessionKey: "hook:ours" }
~TEMPLATE_IN_COMMENT        message: Review§ #{{number}}
INVALID_VALUE               { message: x, coalesce: { key: ref, maxWait: §25h } } => At most 24h.
~SHARED_KEY                 { messageTemplate: x, sessionKey: §"hook:x" } ¦ { message: x, agentId: main, sessionKey: §"hook:y:{{id}}" }
# a test
INVALID_VALUE               { request: { endpoint: a }, expect: §{} }
INVALID_PATH                { request: { endpoint: §/a }, expect: { status: 200 } }
DUPLICATE_FIELD             { request: { endpoint: a, body: 1, §bodyFile: ../reveille.yaml }, expect: { status: 200 } } ¦ { request: { endpoint: a }, expect: { actions: [{ text: x }], §text: x } }
FILE_NOT_FOUND              { request: { endpoint: a, bodyFile: §gone.json }, expect: { status: 200 } }
TEXT_BODY                   { request: { endpoint: a, body: §'{"action": "opened"}' }, expect: { outcome: ignored } }
ok                          { request: { endpoint: a, body: a word }, expect: { outcome: ignored } }
INVALID_VALUE               { request: { endpoint: a }, now: §"2026-01-01T00:00:00", expect: { status: 200 } } ¦ { request: { endpoint: a }, now: §"2026-02-30T00:00:00Z", expect: { status: 200 } } ¦ { request: { endpoint: a }, expect: { outcome: §ignord } } ¦ { request: { endpoint: a }, expect: { message: §{} } }
INVALID_VALUE               { request: { endpoint: a }, expect: { message: §[x] } } ¦ { request: { endpoint: a }, expect: { code: §bad } }
DUPLICATE_NAME              { name: a, request: { endpoint: a }, expect: { status: 200 } }⏎  - { name: §a, request: { endpoint: a }, expect: { status: 200 } }
# a policy
ok                          auth: both⏎token: [${good}, ${good}x]⏎verify: { provider: github, secret: ${good}y } ¦ auth: token⏎verify: { provider: github, secret: ${good}x }⏎token: ${good}
TOKEN_EMPTY+TOKEN_INVALID+TOKEN_SHARED token: [§"", §"two\\nlines of k3v9 text to be long", §${admin}]
~TOKEN_WEAK+~TOKEN_SHORT    token: [${good}, §aaaaaaaaaaaaaaaaaaaaaaaaaaaa, §k3v9]
~TOKEN_REPEATED             token: §${hook} => adds nothing: it equals \`hooks.token\`
~UNUSED_FIELD               auth: none⏎§token: ${good} ¦ auth: signature⏎verify: { provider: github, secret: ${good}x }⏎§token: ${good} ¦ verify: { provider: github, secret: ${good}x }⏎§token: ${good}
~VERIFY_NOT_YET             verify: { provider: github, §secret: "" }⏎token: ${good}
~SECRET_SHORT+~SECRET_WEAK+~UNUSED_FIELD verify: { provider: meta, secret: [§k3v9-pq2x, "", §changemechangeme], §publicKey: abc, verifyToken: abc } => is shorter than 16
~SECRET_PADDED              verify: { provider: github, secret: [§" ${good}", ${good}] }
SECRET_SHARED               verify: { provider: github, secret: §${hook} } => equals \`hooks.token\`
SECRET_SHARED               verify: { provider: github, secret: [${good}, §${admin}] } => equals \`gateway.auth.token\`
SECRET_SHARED               auth: both⏎token: ${good}⏎verify: { provider: github, secret: §${good} } => a token of the
SECRET_SHARED               verify: { provider: meta, secret: ${good}, verifyToken: §${hook} } => verifyToken\` equals \`hooks.token\`
~PUBLIC_URL_PLAIN           verify: { provider: twilio, secret: ${good}, publicUrl: §"http://hooks.example.com/hooks/forge" }
ok                          verify: { provider: twilio, secret: ${good}, publicUrl: "https://hooks.example.com/hooks/forge" } ¦ verify: { provider: twilio, secret: ${good}, publicUrl: "http://[::1]:8787/hooks/forge" } ¦ verify: { provider: twilio, secret: ${good}, publicUrl: "http://localhost/hooks/forge" }
INVALID_VALUE               budget: §{} ¦ bots: §[]
MODEL_WITHOUT_PRICE         budget: { usd: §1 } => budget.usd\` counts what models cost
INVALID_VALUE               bots: [§7] => Put it in quotes.
INVALID_VALUE               token: §7 => Put it in quotes.
INVALID_VALUE               rate: { client: §60 } => such as 600/1m undefined
INVALID_VALUE               auth: §1 => undefined
INVALID_VALUE               verify: { provider: stripe, tolerance: §5 } => must be a duration
INVALID_VALUE               verify: { provider: aws-sns, signatureVersion: §'2' } => must be one of 1, 2 Write it without quotes and without a unit.
INVALID_VALUE               verify: { provider: aws-sns, signatureVersion: §two } => must be one of 1, 2 undefined
INVALID_VALUE               rate: §{} => must be a map with something in it Known here: endpoint, client.
INVALID_VALUE               token: §[] => must be a list with something in it Write what belongs into it, or remove the key.
INVALID_VALUE               rate: §60/1m => must be a map of keys Known here: endpoint, client.
INVALID_VALUE               bots: [a, §" "] => \`hooks.endpoints.forge.bots[1]\` must be
# a rate
ok                          endpoint: 600/1m, client: 1/1s ¦ endpoint: 999999999/24h ¦ client: 7/86400s ¦ endpoint: 100/1m, client: 99/1m ¦ endpoint: 100/1m, client: 1000/1h ¦ endpoint: 10/7s, client: 89/1m
INVALID_VALUE               endpoint: §600/2d => counts for longer than a day
INVALID_VALUE               client: §600/86401s
~UNUSED_FIELD               endpoint: 100/1m, client: §100/1m ¦ endpoint: 100/1m, client: §100/1s ¦ endpoint: 10/1s, client: §600/1m ¦ endpoint: 10/7s, client: §100/1m
# policies of endpoints
ok                          wake: { verify: { provider: standard-webhooks, secret: ${good} } } ¦ agent: { verify: { provider: hmac, hmac: { header: x-signature, signed: "{body}" }, secret: ${good} } } ¦ "orders/:id": { maxBodyBytes: 5 }
~PROVIDER_UNFIT             wake: { verify: { provider: §github, secret: ${good} } } ¦ agent: { verify: { provider: §github, secret: ${good} } }
~UNUSED_FIELD+~UNUSED_FIELD+~UNUSED_FIELD+~UNUSED_FIELD wake: { §concurrency: 1, §timeoutSeconds: 5, §budget: { runs: 1 }, §bots: [a] }
~UNUSED_FIELD               agent: { concurrency: 1, timeoutSeconds: 5, budget: { runs: 1 }, §bots: [a] }
# no authentication
ok                          gateway: { host: "::ffff:127.0.0.1" }⏎hooks: { endpoints: { door: { auth: none } } }
AUTH_NONE_PUBLIC            gateway: { host: localhost.example.com }⏎hooks: { endpoints: { door: { §auth: none } } } ¦ gateway: { host: "::ffff:10.0.0.1" }⏎hooks: { endpoints: { door: { §auth: none } } }
ok                          gateway: { host: 127.8.9.10 }⏎hooks: { endpoints: { door: { auth: none } } } ¦ gateway: { host: "::1" }⏎hooks: { endpoints: { door: { auth: none } } } ¦ gateway: { host: localhost }⏎hooks: { endpoints: { door: { auth: none } } }
AUTH_NONE_PUBLIC            gateway: { host: 0.0.0.0 }⏎hooks: { endpoints: { door: { §auth: none } } } ¦ gateway: { host: "::" }⏎hooks: { endpoints: { door: { §auth: none } } } ¦ gateway: { host: gateway.example }⏎hooks: { endpoints: { door: { §auth: none } } }
~AUTH_NONE_PROXIED          gateway: { trustedProxies: [loopback] }⏎hooks: { endpoints: { door: { §auth: none } } }
# a signature
~HANDSHAKE_UNANSWERED       §verify: { provider: meta, secret: ${good} }
ok                          verify: { provider: meta } ¦ verify: { provider: github, secret: ${good} } ¦ verify: { provider: slack, secret: [${good}, ${good}x], tolerance: 1m }
ok                          verify: { provider: standard-webhooks, secret: whsec_${good} } ¦ verify: { provider: meta, secret: ${good}, verifyToken: ${good}y } ¦ verify: { provider: discord, publicKey: ${hexKey} }
ok                          verify: { provider: sendgrid, publicKey: "${spki}", tolerance: 5m } ¦ verify: { provider: aws-sns, topicArns: ["arn:aws:sns:eu-central-1:123456789012:a.fifo"], signatureVersion: 2 } ¦ verify: { provider: google-pubsub, audience: mine, serviceAccount: push@p.iam.gserviceaccount.com }
ok                          verify: { provider: google-pubsub, publicUrl: "https://a.example/", serviceAccount: push@p.example } ¦ verify: { provider: cloudevents, allowedOrigins: [eventgrid.azure.net] } ¦ verify: { provider: monday }
ok                          verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{id}.{timestamp}.{body}", idHeader: x-id, timestampHeader: x-time } } ¦ auth: both⏎      verify: { provider: github, secret: ${good} } ¦ verify: { provider: github } ¦ auth: token⏎      verify: { provider: github, secret: "" }
UNKNOWN_PROVIDER            verify: { provider: §Okta, secret: ${good} } => docs/trust.md has the lines for it.
UNKNOWN_PROVIDER            verify: { provider: §twitch, secret: ${good} } => docs/trust.md has the lines for it.
UNKNOWN_PROVIDER            verify: { provider: §constructor, secret: ${good} }
MISSING_KEY                 §verify: { secret: ${good} } => \`hooks.endpoints.forge.verify.provider\` is missing
MISSING_KEY                 §verify: { provider: hmac, secret: ${good} } ¦ §verify: { provider: square, secret: ${good} } ¦ §verify: { provider: hubspot, secret: ${good} } ¦ §verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{url}{body}" } } ¦ §verify: { provider: aws-sns }
MISSING_KEY                 §verify: { provider: twilio, secret: ${good} } => verify.publicUrl\` is missing
MISSING_KEY+~UNUSED_FIELD   §verify: { provider: discord, §secret: ${good} }
MISSING_KEY+MISSING_KEY     §§verify: { provider: google-pubsub }
MISSING_KEY                 §verify: { provider: google-pubsub, audience: mine } ¦ verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: §"{timestamp}.{body}" } } ¦ verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: §"{id}.{body}" } }
~UNUSED_FIELD               verify: { provider: github, secret: ${good}, §tolerance: 5m } ¦ verify: { provider: sentry, secret: ${good}, §tolerance: 5m } ¦ verify: { provider: github, secret: ${good}, §publicUrl: "https://a.example" } ¦ verify: { provider: github, secret: ${good}, §hmac: { header: x-a } }
~UNUSED_FIELD               verify: { provider: github, secret: ${good}, §publicKey: ${hexKey} } => has no effect: GitHub reads \`secret\`
~UNUSED_FIELD               verify: { provider: github, secret: ${good}, §challenge: { query: a } } ¦ verify: { provider: monday, §secret: ${good} } ¦ verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, §timestampHeader: x-t } }
INVALID_VALUE               verify: { provider: svix, secret: §"whsec_k3v9!!k3v9-pq2x-77zz" } ¦ verify: { provider: svix, secret: [${good}, §"k3v9 k3v9 pq2x 77zz"] } ¦ verify: { provider: gitlab, secret: §"whsec_k3v9!!k3v9-pq2x-77zz" }
INVALID_VALUE               verify: { provider: standard-webhooks, secret: §whpk_k3v9k3v9k3v9k3v9 } => write it as \`publicKey\`
INVALID_VALUE               verify: { provider: discord, publicKey: §${hexKey}00 } ¦ verify: { provider: discord, publicKey: ["", §${hexKey.replace('a', 'g')}] } ¦ verify: { provider: sendgrid, publicKey: §abcd }
INVALID_VALUE               verify: { provider: sendgrid, publicKey: §${pem} } => dashes
INVALID_VALUE               verify: { provider: standard-webhooks, publicKey: §whpk_abcd } ¦ verify: { provider: aws-sns, topicArns: [§"arn:aws:sqs:eu-central-1:123456789012:a"] } ¦ verify: { provider: google-pubsub, audience: a, serviceAccount: §113774 } ¦ verify: { provider: cloudevents, allowedOrigins: [§"https://a.example"] }
~VERIFY_NOT_YET             verify: { provider: github, §secret: "" } ¦ verify: { provider: discord, §publicKey: ["", " "] }
AUTH_UNVERIFIABLE           { auth: §signature, verify: { provider: monday } } => signs nothing
INVALID_VALUE+~BODY_NOT_SIGNED verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: §§"{bdy}" } }
~BODY_NOT_SIGNED            verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: §"{timestamp}", timestampHeader: x-t } }
MISSING_KEY                 verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{timestamp}{body}", §timestampElement: t } }
ok                          verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{timestamp}{body}", timestampElement: t, element: v1 } }
~UNUSED_FIELD               verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, element: v1, §prefix: "v1=" } }
INVALID_VALUE               verify: { provider: hmac, secret: §${good}, hmac: { header: x-sig, key: hex } }
# a challenge
ok                          challenge: { query: challenge } ¦ challenge: { method: HEAD } ¦ challenge: {} ¦ ${hmac}, challenge: { query: crc_token, answer: json, field: token, hmac: true } ¦ ${hmac}, challenge: { method: POST, header: x-hook-secret, answer: header, issuesSecret: true }
INVALID_VALUE               challenge: { query: a, header: §b } => cannot be combined with \`query\` Keep one of the two.
INVALID_VALUE               challenge: { body: §a } ¦ challenge: { method: HEAD, query: §a } ¦ challenge: { query: a, answer: §header } ¦ challenge: { method: POST, header: a, issuesSecret: §true } ¦ provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{form}" }, challenge: { query: a, hmac: §true }
MISSING_KEY                 challenge: { query: a, hmac: §true }
~BODY_NOT_SIGNED+INVALID_VALUE provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: §"{url}" }, publicUrl: "https://a.example/", challenge: { query: a, hmac: §true }
# a catch-up
ok                          { verify: { ${forge} }, catchUp: { repo: octo-org/harbour, hookId: 12345678, token: ${token} ¦ { verify: { ${forge} }, catchUp: { org: octo-org, hookId: "12345678", token: ${token}, every: 1m, lookBack: 1d
ok                          { verify: { ${forge} }, catchUp: { repo: a/b, hookId: 1, token: ${token}, api: "https://github.example.com/api/v3" ¦ { verify: { ${shop} }, catchUp: { hookId: we_1Qx2, token: ${token}, lookBack: 30d
INVALID_VALUE               { verify: { ${forge} }, catchUp: { repo: a/b, hookId: 1, token: ${token}, every: §10s => is shorter than 1m
INVALID_VALUE               { verify: { ${forge} }, catchUp: { repo: a/b, hookId: 1, token: ${token}, lookBack: §5m => is not longer than \`every\` (10m)
CATCH_UP_UNSUPPORTED        { §catchUp: { repo: a/b, hookId: 1, token: ${token}
# a mailbox
INVALID_VALUE               gmail: { model: §5 }⏎  presets: [gmail] ¦ gmail: { thinking: §lots }⏎  presets: [gmail] ¦ gmail: { allowUnsafeExternalContent: §"yes" }⏎  presets: [gmail]
~MAIL_WITHOUT_HOOKS         §gmail: { account: ada@example.com }⏎  presets: [gmail]
ok                          enabled: true⏎  gmail: { account: ada@example.com }⏎  presets: [gmail]
~FOREIGN_KEY                enabled: true⏎  gmail: { §topic: projects/p/topics/t } => reads the mailbox's history itself
~FOREIGN_KEY                enabled: true⏎  gmail: { §subscription: gog-gmail-watch-push } => remove it.
~FOREIGN_KEY                enabled: true⏎  gmail: { §renewEveryMinutes: 720 } => remove it.
~FOREIGN_KEY                enabled: true⏎  gmail: { §hookUrl: x } => remove it.
~FOREIGN_KEY                enabled: true⏎  gmail: { §pushToken: hush-hush } => remove it.
~FOREIGN_KEY                enabled: true⏎  gmail: { §serve: { port: 8788 } } => remove it.
~FOREIGN_KEY                enabled: true⏎  gmail: { §tailscale: { mode: funnel } } => remove it.
# a key of OpenClaw
~FOREIGN_KEY                §internal: { enabled: true } => run inside OpenClaw
~FOREIGN_KEY                §sessionRetention: 24h => idleExpiry
~FOREIGN_KEY                §allowedAgentIds: [hooks, main] => \`runner\` and \`model\`
~FOREIGN_KEY                mappings: [{ message: x, §agentId: reader }] => \`runner\` and \`model\`
~FOREIGN_KEY                mappings: [{ message: x, §sessionMode: persistent }] => Without \`sessionKey\`
FOREIGN_KEY                 mappings: [{ message: x, sessionKey: "hook:x", §sessionMode: isolated }] => share a conversation
FOREIGN_KEY                 mappings: [{ message: x, §accountId: work }] => one account
~SESSION_KEY_NOT_ALLOWED    allowedSessionKeyPrefixes: §["agent:"] ¦ allowedSessionKeyPrefixes: §[]
ok                          allowedSessionKeyPrefixes: ["agent:", "hook:"] ¦ allowedSessionKeyPrefixes: ["agent:"], defaultSessionKey: "agent:x"
INVALID_VALUE               defaultSessionKey: §Main
SESSION_KEY_NOT_ALLOWED     defaultSessionKey: §"hook:x", allowedSessionKeyPrefixes: ["agent:"]
# JSON5
INVALID_VALUE               agents: { defaults: { model: §{ primary: openai/gpt-5, fallbacks: [] } } } => Write \`model: openai/gpt-5\`
YAML_SYNTAX                 hooks:⏎  §// about the path⏎  path: /hooks => begin with \`#\`
YAML_SYNTAX                 hooks:⏎  enabled: true⏎  §// about the path⏎  path: /hooks => begin with \`#\`
YAML_SYNTAX                 §// mine⏎hooks: {} => begin with \`#\`
YAML_SYNTAX                 hooks:⏎  path: §// hooks => begin with \`#\`
YAML_SYNTAX                 hooks:⏎  presets:⏎    - §/* mail */ gmail => begin with \`#\`
YAML_SYNTAX                 hooks:⏎  path: "/hooks" §// with a slash => begin with \`#\`
YAML_SYNTAX                 hooks:⏎  mappings:⏎    - message: §// two => begin with \`#\`
YAML_SYNTAX                 hooks: { presets: [gmail] } §// mail => begin with \`#\`
YAML_SYNTAX                 { hooks: { §/* path: "/hooks" } } => Write \`*/\` after it
UNKNOWN_KEY                 { hooks:{§enabled:true} } => Write a space after the colon
YAML_SYNTAX                 hooks: {⏎  path: "/hooks",⏎}§,⏎agents: {} => Remove the comma
UNKNOWN_KEY                 gateway:⏎  port: 1⏎  §hooks: {⏎    path: "/hooks",⏎  } => Begin it in the first column
YAML_SYNTAX                 hooks:⏎  mappings:⏎    - match:⏎        path: x⏎§     message: x⏎      name: |-⏎        x => Keys of one map begin in one column
~SINGLE_QUOTED_BREAK        { hooks: { mappings: [{ messageTemplate: §'From: {{a}}\\nSubject: {{b}}' }] } } => double quotes
~SINGLE_QUOTED_BREAK        { hooks: { mappings: [{ action: 'wake', textTemplate: §'a\\tb' }] } } ¦ hooks:⏎  mappings:⏎    - { message: §'a\\nb' }
ok                          { hooks: { mappings: [{ message: "a\\nb" }] } } ¦ { hooks: { mappings: [{ message: 'a\\\\nb' }] } } ¦ { hooks: { mappings: [{ message: 'x', match: { body: { a: { pattern: '\\t\\d' } } } }] } }
ok                          { hooks: { mappings: [{ message: x, vars: { a: '$split(b, "\\n")' } }] } } ¦ hooks:⏎  mappings:⏎    - message: 'a\\nb'
# files
ok                          {} || mappings/a.yaml: # later
UNKNOWN_KEY                 {} || mappings/a.yaml: §mapings:⏎  - message: m ¦ {} || mappings/a.yaml: §Mappings: [] ¦ {} || mappings/a.yaml: §test: [] ¦ {} || mappings/a.yaml: §hooks: { mappings: [] }
UNKNOWN_KEY+UNKNOWN_KEY     {} || mappings/a.yaml: §match: { path: a }⏎§message: m
INVALID_VALUE               {} || mappings/a.yaml: §- message: x => Put the list under \`mappings:\`.
FILE_EMPTY                  {} || mappings/a.yaml: # later || mappings/b.yaml: § => Delete it, or write \`endpoints:\`
FILE_NOT_FOUND              hooks:⏎  mappingsDir: §./gone ¦ {} || mappings/a.yaml: mappings:⏎  - message: x⏎    schema: §../a.yaml
DUPLICATE_ID                {} || mappings/a.yaml: mappings:⏎  - id: x⏎    enabled: false⏎    message: m || mappings/b.yaml: mappings:⏎  - message: m⏎    id: §x => mappings/a.yaml:2:5
DUPLICATE_ENDPOINT          {} || mappings/a.yaml: endpoints:⏎  gh: { maxBodyBytes: 1 } || mappings/b.yaml: endpoints: { §gh: { maxBodyBytes: 2 } } => mappings/a.yaml:2:3
INVALID_VALUE               {} || mappings/a.yaml: mappings: [{ message: x, schema: ../a.yaml }, { message: x, schema: ../a.yaml }] || a.yaml: ⏎§- type: object
YAML_SYNTAX                 {} || mappings/a.yaml: mappings: [{ message: x, schema: ../a.yaml }, { message: x, schema: ../a.yaml }] || a.yaml: type: §*none
~NOT_A_MAPPING_FILE+~NOT_A_MAPPING_FILE+~NOT_A_MAPPING_FILE+~NOT_A_MAPPING_FILE {} || mappings/a.yaml: mappings: [{ message: m }] || mappings/schemas/old.json: §{ "type": "object" } || mappings/schemas/old.yaml: §type: object || mappings/bodies/push.json: §{ "action": "opened", "text": "hello" } || mappings/bodies/list.json: §[{ "id": 1 }] || mappings/package.json: { "name": "x" } || mappings/node_modules/left/mappings.yaml: mapings: broken
MODEL_WITHOUT_PRICE         agents: { defaults: { model: ollama/llama } } || mappings/a.yaml: endpoints: { github: { budget: { usd: §1 } } }⏎mappings: [{ match: { path: github }, message: hi }] => \`endpoints.github.budget.usd\` counts what models cost
UNKNOWN_KEY+INVALID_VALUE+HOOK_PATH_ROOT+INVALID_VALUE+UNKNOWN_KEY+YAML_SYNTAX gateway:⏎  §prot: 1⏎  log: { level: §inof }⏎hooks: { path: §/ , maxActions: §0 } || mappings/a.yaml: mappings:⏎  - §mesage: x || mappings/b.yaml: mappings: §*none => Did you mean \`port\`?
# a policy of the configuration, and of a file
ok                          auth: token || auth: none ¦ concurrency: 1 || verify: { provider: github, secret: "" }
AUTH_NONE_PUBLIC            concurrency: 1 || §auth: none ¦ §auth: none || auth: none
MODEL_WITHOUT_PRICE         concurrency: 1 || budget: { usd: §1 }
# a policy of the configuration, and of a preset
ok                          concurrency: 1 || twilio ¦ concurrency: 1 || google-pubsub ¦ concurrency: 1 || aws-sns ¦ concurrency: 1 || discord ¦ concurrency: 1 || github ¦ concurrency: 1 || monday ¦ verify: { secret: ${good}, publicUrl: "https://hooks.example.com/hooks/forge" } || twilio
MISSING_KEY                 §verify: { secret: ${good} } || twilio ¦ §verify: { serviceAccount: push@p.example } || google-pubsub
~VERIFY_NOT_YET             verify: { §secret: "" } || github
`,
  [hook, admin, good, token, 'changeme', 'k3v9', 'sekret', 'hush-hush'],
)

test('values of references are compared and measured as others are', async (context) => {
  const files = {
    'reveille.yaml': `hooks: { enabled: true, token: "\${HOOK}", presets: [forge] }\n`,
    'mappings/a.yaml':
      'endpoints:\n  a:\n    token: "${A}"\nmappings: [{ match: { path: a }, message: x }]\n',
    'shipped/forge.yaml': `endpoints: { forge: { verify: { provider: github, secret: "\${FORGE:-}" } } }\n${mapping}`,
  }
  for (const [env, wanted] of [
    [{ HOOK: hook, A: hook }, ['TOKEN_REPEATED 3:12']],
    [{ HOOK: hook, A: good }, []],
    [{ HOOK: hook, A: good, FORGE: 'k3v9-pq' }, ['SECRET_SHORT 1:59']],
    [{ HOOK: hook, A: good, FORGE: `${good}x\n` }, ['SECRET_PADDED 1:59']],
  ] as const) {
    const found = await diagnose(context, files, env)
    assert.deepEqual(summary(found), wanted)
    for (const secret of Object.values(env)) assert.ok(!JSON.stringify(found).includes(secret))
  }
})

test('the kind of authentication of an endpoint is no secret, so its line is shown', async (context) => {
  const line = async (text: string) =>
    (await diagnose(context, `${start}  endpoints:\n${text}\n`))[0]?.place?.text
  assert.equal(await line('    open: { auth: both }'), '    open: { auth: both }')
  assert.equal(await line('    open:\n      auth: both'), '      auth: both')
  assert.equal(await line(`    open:\n      auth: ${good}`), '      auth: …')
})
