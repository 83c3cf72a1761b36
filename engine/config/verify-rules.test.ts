import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

const good = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const hexKey = 'a1'.repeat(32)
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
const spki = p256.export({ type: 'spki', format: 'der' }).toString('base64')
const start = 'hooks:\n  enabled: true\n  token: p0Yt7RcB1WmX8vZq4LsK2fNd\n'

/** Returns the diagnostics by code and place; for a preset, by its name. */
async function diagnose(
  context: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ codes: string[]; diagnostics: readonly Diagnostic[] }> {
  const folder = await createSampleFolder(context, files)
  const loaded = await loadConfiguration({
    file: folder.at('reveille.yaml'),
    env: {},
    presets: folder.at('shipped'),
  })
  const diagnostics = loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
  assert.ok(!JSON.stringify(diagnostics).includes('k3v9'), 'a secret is shown')
  const codes = diagnostics.map(({ severity, code, place }) => {
    const name = place?.calledFile ?? place?.file.slice(folder.path.length + 1)
    return `${severity} ${code} ${name}:${place?.line}:${place?.column}`
  })
  return { codes, diagnostics }
}

/** Makes the policy of one endpoint in the configuration, on its sixth line. */
function ofPolicy(context: TestContext, policy: string) {
  return diagnose(context, { 'reveille.yaml': `${start}  endpoints:\n    forge:\n      ${policy}\n` })
}

async function assertDiagnosed(context: TestContext, cases: readonly (readonly [string, ...string[]])[]) {
  for (const [policy, ...expected] of cases) {
    const { codes } = await ofPolicy(context, policy)
    assert.deepEqual(
      codes,
      expected.map((each) => each.replace(/ (?=\d+$)/, ' reveille.yaml:6:')),
      policy,
    )
  }
}

test('Meta without a verifyToken is a warning, because a webhook that is already set up still works', async (context) => {
  await assertDiagnosed(context, [
    [`verify: { provider: meta, secret: ${good} }`, 'warning HANDSHAKE_UNANSWERED 7'],
    ['verify: { provider: meta }'],
  ])
})

test('a provider with all keys that it needs gets no finding', async (context) => {
  const hmac =
    'hmac: { header: x-sig, signed: "{id}.{timestamp}.{body}", idHeader: x-id, timestampHeader: x-time }'
  await assertDiagnosed(context, [
    [`verify: { provider: github, secret: ${good} }`],
    [`verify: { provider: slack, secret: [${good}, ${good}x], tolerance: 1m }`],
    [`verify: { provider: twilio, secret: ${good}, publicUrl: "https://hooks.example.com/hooks/forge" }`],
    [`verify: { provider: standard-webhooks, secret: whsec_${good} }`],
    [`verify: { provider: meta, secret: ${good}, verifyToken: ${good}y }`],
    [`verify: { provider: discord, publicKey: ${hexKey} }`],
    [`verify: { provider: sendgrid, publicKey: "${spki}", tolerance: 5m }`],
    [
      `verify: { provider: aws-sns, topicArns: ["arn:aws:sns:eu-central-1:123456789012:a.fifo"], signatureVersion: 2 }`,
    ],
    ['verify: { provider: google-pubsub, audience: mine, serviceAccount: push@p.iam.gserviceaccount.com }'],
    ['verify: { provider: google-pubsub, publicUrl: "https://a.example/", serviceAccount: push@p.example }'],
    ['verify: { provider: cloudevents, allowedOrigins: [eventgrid.azure.net] }'],
    ['verify: { provider: monday }'],
    [`verify: { provider: hmac, secret: ${good}, ${hmac} }`],
    [`auth: both\n      verify: { provider: github, secret: ${good} }`],
  ])
})

test('a sender that needs no row is reported with a pointer to the lines for it', async (context) => {
  for (const provider of ['dropbox', 'Okta', 'x', 'twitter', 'trello', 'asana', 'twitch']) {
    const { diagnostics } = await ofPolicy(context, `verify: { provider: ${provider}, secret: ${good} }`)
    assert.deepEqual(
      diagnostics.map(({ code, hint }) => [code, hint]),
      [['UNKNOWN_PROVIDER', 'It is set up with `hmac` and `challenge`: docs/trust.md has the lines for it.']],
    )
  }
})

test('a challenge that could not be answered is reported with what to write', async (context) => {
  const hmac = `provider: hmac, secret: ${good}, hmac: { header: x-sig }`
  const signsForm = `provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{form}" }`
  const signsNoBody = `provider: hmac, secret: ${good}, hmac: { header: x-sig, signed: "{url}" }, publicUrl: "https://a.example/"`
  await assertDiagnosed(context, [
    ['verify: { challenge: { query: challenge } }'],
    ['verify: { challenge: { method: HEAD } }'],
    ['verify: { challenge: {} }'],
    [`verify: { ${hmac}, challenge: { query: crc_token, answer: json, field: token, hmac: true } }`],
    [
      `verify: { ${hmac}, challenge: { method: POST, header: x-hook-secret, answer: header, issuesSecret: true } }`,
    ],
    ['verify: { challenge: { method: POST } }', 'error MISSING_KEY 28'],
    ['verify: { challenge: { answer: json } }', 'error MISSING_KEY 28'],
    ['verify: { challenge: { query: a, header: b } }', 'error INVALID_VALUE 48'],
    ['verify: { challenge: { body: a } }', 'error INVALID_VALUE 36'],
    ['verify: { challenge: { method: HEAD, query: a } }', 'error INVALID_VALUE 51'],
    ['verify: { challenge: { query: a, answer: header } }', 'error INVALID_VALUE 48'],
    ['verify: { challenge: { query: a, field: b } }', 'warning UNUSED_FIELD 47'],
    ['verify: { challenge: { query: a, hmac: true } }', 'error MISSING_KEY 46'],
    ['verify: { challenge: { method: POST, header: a, issuesSecret: true } }', 'error INVALID_VALUE 69'],
    [
      `verify: { ${signsNoBody}, challenge: { query: a, hmac: true } }`,
      'error INVALID_VALUE 171',
      'warning BODY_NOT_SIGNED 98',
    ],
    // A form is signed without its dividers, so `textapprove` is equivalent to `text=approve`.
    [`verify: { ${signsForm}, challenge: { query: a, hmac: true } }`, 'error INVALID_VALUE 139'],
    [`verify: { provider: github, secret: ${good}, challenge: { query: a } }`, 'warning UNUSED_FIELD 69'],
    [`auth: signature\n      verify: { challenge: { query: a } }`, 'error AUTH_UNVERIFIABLE 13'],
  ])
  const { diagnostics } = await ofPolicy(context, 'verify: { challenge: { query: a, header: b } }')
  assert.match(diagnostics[0]?.message ?? '', /challenge\.header` stands beside `query`$/)
  assert.equal(diagnostics[0]?.hint, 'Keep one of the two.')
})

test('a missing or unknown provider is reported, with the nearest name', async (context) => {
  await assertDiagnosed(context, [
    [`verify: { secret: ${good} }`, 'error MISSING_KEY 7'],
    [`verify: { provider: gihtub, secret: ${good} }`, 'error UNKNOWN_PROVIDER 27'],
    [`verify: { provider: constructor, secret: ${good} }`, 'error UNKNOWN_PROVIDER 27'],
    [`verify: { provider: hmac, secret: ${good} }`, 'error MISSING_KEY 7'],
  ])
  const { diagnostics } = await ofPolicy(context, `verify: { provider: gihtub, secret: ${good} }`)
  assert.equal(diagnostics[0]?.hint, 'Did you mean `github`?')
  const missing = await ofPolicy(context, `verify: { secret: ${good} }`)
  assert.equal(missing.diagnostics[0]?.message, '`hooks.endpoints.forge.verify.provider` is missing')
})

test('the keys that a provider needs besides its secret are required once there is a secret', async (context) => {
  for (const provider of ['twilio', 'square', 'hubspot']) {
    const { codes, diagnostics } = await ofPolicy(
      context,
      `verify: { provider: ${provider}, secret: ${good} }`,
    )
    assert.deepEqual(codes, ['error MISSING_KEY reveille.yaml:6:7'])
    assert.equal(diagnostics[0]?.message, '`hooks.endpoints.forge.verify.publicUrl` is missing')
  }
  const url = 'hmac: { header: x-sig, signed: "{url}{body}" }'
  await assertDiagnosed(context, [
    [`verify: { provider: hmac, secret: ${good}, ${url} }`, 'error MISSING_KEY 7'],
    [`verify: { provider: discord, secret: ${good} }`, 'error MISSING_KEY 7', 'warning UNUSED_FIELD 36'],
    ['verify: { provider: aws-sns }', 'error MISSING_KEY 7'],
    ['verify: { provider: google-pubsub }', 'error MISSING_KEY 7', 'error MISSING_KEY 7'],
    ['verify: { provider: google-pubsub, audience: mine }', 'error MISSING_KEY 7'],
  ])
})

const preset = (verify: string) =>
  `endpoints:\n  forge: { verify: { ${verify} } }\nmappings:\n  - id: f\n    match: { path: forge }\n    message: x\n`

test('a preset may name its provider before there is a secret', async (context) => {
  const cases = ['twilio', 'google-pubsub', 'aws-sns', 'discord', 'github', 'monday']
  for (const provider of cases) {
    const files = {
      'reveille.yaml': `${start}  presets: [forge]\n`,
      'shipped/forge.yaml': preset(`provider: ${provider}, secret: "\${FORGE:-}", publicKey: "\${FORGE:-}"`),
    }
    assert.deepEqual((await diagnose(context, files)).codes, [], provider)
  }
})

test('the keys that a preset’s provider needs are required where the operator sets the secret', async (context) => {
  const files = (verify: string, provider: string) => ({
    'reveille.yaml': `${start}  presets: [forge]\n  endpoints:\n    forge:\n      verify: { ${verify} }\n`,
    'shipped/forge.yaml': preset(`provider: ${provider}`),
  })
  const secret = await diagnose(context, files(`secret: ${good}`, 'twilio'))
  assert.deepEqual(secret.codes, ['error MISSING_KEY reveille.yaml:7:7'])
  const whole = `secret: ${good}, publicUrl: "https://hooks.example.com/hooks/forge"`
  assert.deepEqual((await diagnose(context, files(whole, 'twilio'))).codes, [])
  const account = await diagnose(context, files('serviceAccount: push@p.example', 'google-pubsub'))
  assert.deepEqual(account.codes, ['error MISSING_KEY reveille.yaml:7:7'])
  const empty = await diagnose(context, files('secret: ""', 'github'))
  assert.deepEqual(empty.codes, ['warning VERIFY_NOT_YET reveille.yaml:7:17'])
})

test('a key that the provider does not read is reported, with those that it reads', async (context) => {
  await assertDiagnosed(context, [
    [`verify: { provider: github, secret: ${good}, tolerance: 5m }`, 'warning UNUSED_FIELD 69'],
    [`verify: { provider: sentry, secret: ${good}, tolerance: 5m }`, 'warning UNUSED_FIELD 69'],
    [
      `verify: { provider: github, secret: ${good}, publicUrl: "https://a.example" }`,
      'warning UNUSED_FIELD 69',
    ],
    [`verify: { provider: github, secret: ${good}, hmac: { header: x-a } }`, 'warning UNUSED_FIELD 69'],
    [`verify: { provider: github, secret: ${good}, publicKey: ${hexKey} }`, 'warning UNUSED_FIELD 69'],
    [`verify: { provider: monday, secret: ${good} }`, 'warning UNUSED_FIELD 35'],
  ])
  const swapped = await ofPolicy(
    context,
    `verify: { provider: github, secret: ${good}, publicKey: ${hexKey} }`,
  )
  assert.match(swapped.diagnostics[0]?.message ?? '', /publicKey` has no effect: GitHub reads `secret`$/)
})

test('secrets and keys that cannot verify any signature are reported, and not shown', async (context) => {
  await assertDiagnosed(context, [
    ['verify: { provider: svix, secret: "whsec_k3v9!!k3v9-pq2x-77zz" }', 'error INVALID_VALUE 41'],
    [`verify: { provider: svix, secret: [${good}, "k3v9 k3v9 pq2x 77zz"] }`, 'error INVALID_VALUE 68'],
    ['verify: { provider: gitlab, secret: "whsec_k3v9!!k3v9-pq2x-77zz" }', 'error INVALID_VALUE 43'],
    [`verify: { provider: discord, publicKey: ${hexKey}00 }`, 'error INVALID_VALUE 47'],
    [`verify: { provider: discord, publicKey: ["", ${hexKey.replace('a', 'g')}] }`, 'error INVALID_VALUE 52'],
    ['verify: { provider: sendgrid, publicKey: abcd }', 'error INVALID_VALUE 48'],
    ['verify: { provider: standard-webhooks, publicKey: whpk_abcd }', 'error INVALID_VALUE 57'],
    [
      'verify: { provider: aws-sns, topicArns: ["arn:aws:sqs:eu-central-1:123456789012:a"] }',
      'error INVALID_VALUE 48',
    ],
    ['verify: { provider: google-pubsub, audience: a, serviceAccount: 113774 }', 'error INVALID_VALUE 71'],
    ['verify: { provider: cloudevents, allowedOrigins: ["https://a.example"] }', 'error INVALID_VALUE 57'],
  ])
  const asked = await ofPolicy(
    context,
    'verify: { provider: standard-webhooks, secret: whpk_k3v9k3v9k3v9k3v9 }',
  )
  assert.match(asked.diagnostics[0]?.hint ?? '', /write it as `publicKey`/)
  const pem = p256.export({ type: 'spki', format: 'pem' }).toString()
  const armoured = await ofPolicy(
    context,
    `verify: { provider: sendgrid, publicKey: ${JSON.stringify(pem)} }`,
  )
  assert.match(armoured.diagnostics[0]?.hint ?? '', /dashes/)
})

test('an empty secret in the configuration is a warning, because the endpoint accepts a token meanwhile', async (context) => {
  await assertDiagnosed(context, [
    ['verify: { provider: github, secret: "" }', 'warning VERIFY_NOT_YET 35'],
    ['verify: { provider: discord, publicKey: ["", " "] }', 'warning VERIFY_NOT_YET 36'],
    ['verify: { provider: github }'],
    ['auth: token\n      verify: { provider: github, secret: "" }'],
  ])
})

test('a copy of a preset gives no more diagnostics than the preset', async (context) => {
  const files = { 'reveille.yaml': start, 'mappings/forge.yaml': preset('provider: github, secret: ""') }
  assert.deepEqual((await diagnose(context, files)).codes, [])
})

test('a signature is not required where none could be verified', async (context) => {
  for (const auth of ['signature', 'both']) {
    await assertDiagnosed(context, [
      [`{ auth: ${auth} }`, 'error AUTH_UNVERIFIABLE 15'],
      [`{ auth: ${auth}, verify: { provider: github, secret: "" } }`, 'error AUTH_UNVERIFIABLE 15'],
      [`{ auth: ${auth}, verify: { provider: monday } }`, 'error AUTH_UNVERIFIABLE 15'],
    ])
  }
})

test('a custom scheme has to name the places of everything that it signs', async (context) => {
  const hmac = (text: string) =>
    `verify: { provider: hmac, secret: ${good}, hmac: { header: x-sig, ${text} } }`
  await assertDiagnosed(context, [
    [hmac('signed: "{timestamp}.{body}"'), 'error MISSING_KEY 98'],
    [hmac('signed: "{id}.{body}"'), 'error MISSING_KEY 98'],
    [hmac('signed: "{bdy}"'), 'error INVALID_VALUE 98', 'warning BODY_NOT_SIGNED 98'],
    [hmac('signed: "{timestamp}", timestampHeader: x-t'), 'warning BODY_NOT_SIGNED 98'],
    [hmac('timestampHeader: x-t'), 'warning UNUSED_FIELD 90'],
    [hmac('signed: "{timestamp}{body}", timestampElement: t'), 'error MISSING_KEY 119'],
    [hmac('signed: "{timestamp}{body}", timestampElement: t, element: v1')],
    [hmac('element: v1, prefix: "v1="'), 'warning UNUSED_FIELD 103'],
    [hmac('key: hex'), 'error INVALID_VALUE 41'],
  ])
})
