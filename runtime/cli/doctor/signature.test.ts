import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createDiscordKeys,
  hmacOf,
  signedByDiscord,
  signedBySlack,
  signedByStripe,
} from '../../../test/signed.ts'
import { createCommandLine } from '../io-fixture.ts'

const secret = 'sekret-of-github-0123456789'
const older = 'sekret-of-last-year-0123456789'
const hookToken = 'sekret-hook-token-0123456789abcdef'
const body = '{"action":"opened","title":"canary of the body"}'
const signatureOf = (text: string, key = secret) => `sha256=${hmacOf(text, key)}`

const configuration = `hooks:
  enabled: true
  token: ${hookToken}
  endpoints:
    github: { verify: { provider: github, secret: [${secret}, ${older}] } }
    stripe: { verify: { provider: stripe, secret: whsec_sekret-of-stripe-0123456789 } }
    alerts: { verify: { provider: aws-sns, topicArns: ["arn:aws:sns:eu-central-1:123456789012:alerts"] } }
    plain: { maxBodyBytes: 1000 }
`

const message = (signature: string, text = body) =>
  `POST /hooks/github HTTP/1.1\nHost: hooks.example.com\nContent-Type: application/json\nX-Hub-Signature-256: ${signature}\n\n${text}`

const files = {
  'reveille.yaml': configuration,
  'good.http': message(signatureOf(body)),
  'older.http': message(signatureOf(body, older)),
  'rewritten.http': message(signatureOf(body), JSON.stringify(JSON.parse(body), null, 2)),
}
const github = ['doctor', 'signature', '--endpoint', 'github', '--request']

/** Asserts that an answer holds no secret, no signature and nothing of the body. */
function assertDiscreet(text: string): void {
  for (const kept of [
    'sekret',
    'canary',
    signatureOf(body),
    signatureOf(body).slice(7),
    signatureOf(body, older),
  ])
    assert.ok(!text.includes(kept), `${kept} in ${text}`)
}

test('a request that would be accepted is reported with the secret that matches, and the command exits with 0', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out, err } = await run(...github, 'good.http')
  assert.deepEqual([code, err], [0, ''])
  assert.match(
    out,
    /^\/github {2}2xx {2}taken {2}the signature is right\n\nprovider {2}github\nsecret {4}1 of 2\n/,
  )
  assert.match(
    out,
    new RegExp(
      `^body {6}${body.length} bytes\nSHA-256 {3}[0-9a-f]{64}\nclock {5}2026-03-02T12:00:00\\.000Z$`,
      'm',
    ),
  )
  const rotated = await run(...github, 'older.http')
  assert.equal(rotated.code, 0)
  assert.match(rotated.out, /^! an older secret fits.* \[OLDER_SECRET\]\n {2}→ Keep it/m)
  assertDiscreet(out + rotated.out)
})

test('a request that would be refused is reported with what differs and what to do, and the command exits with 1', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out, err } = await run(...github, 'rewritten.http')
  assert.deepEqual([code, err], [1, ''])
  assert.match(out, /^\/github {2}401 {2}refused {2}SIGNATURE_MISMATCH {2}the signature does not match/)
  assert.match(
    out,
    /^✗ it fits the body written as compact JSON: something .* rewrote it \[BODY_FORM\]\n {2}→ /m,
  )
  assertDiscreet(out)
})

test('--json answers with stable codes, and holds as little', async (t) => {
  const { run } = await createCommandLine(t, files)
  for (const [file, ok, code, finding] of [
    ['good.http', true, 'TAKEN', undefined],
    ['rewritten.http', false, 'SIGNATURE_MISMATCH', 'BODY_FORM'],
  ] as const) {
    const { out } = await run(...github, file, '--json')
    const answer = JSON.parse(out)
    assert.deepEqual([answer.ok, answer.endpoint, answer.results[0].code], [ok, 'github', code])
    assert.equal(answer.results[0].findings[0]?.code, finding)
    assertDiscreet(out)
  }
})

test('lines are broken between words for a terminal', async (t) => {
  const { run } = await createCommandLine(t, files, { columns: 60, env: { NO_COLOR: '1' } })
  const { out } = await run(...github, 'rewritten.http')
  const findings = out.split('\n\n')[1] ?? ''
  assert.ok(
    findings.split('\n').length > 3 && findings.split('\n').every((line) => line.length <= 60),
    findings,
  )
})

test('the clock is that of --now, else that of this machine', async (t) => {
  const at = Date.UTC(2026, 0, 15, 12)
  const seconds = at / 1000
  const head = Object.entries(signedByStripe(body, 'whsec_sekret-of-stripe-0123456789', seconds))
  const lines = head.map(([name, value]) => `${name}: ${value}\n`).join('')
  const { run } = await createCommandLine(t, {
    ...files,
    'later.http': `POST /hooks/stripe HTTP/1.1\n${lines}\n${body}`,
  })
  const stripe = ['doctor', 'signature', '--endpoint', 'stripe', '--request']
  assert.match(
    (await run(...stripe, 'later.http', '--now', String(seconds))).out,
    /taken[\s\S]*\nclock {5}2026-01-15T12:00:00\.000Z, by --now\n/,
  )
  const late = await run(...stripe, 'later.http')
  assert.equal(late.code, 1)
  assert.match(
    late.out,
    /TIMESTAMP_OUTSIDE[\s\S]*✗ the signature is right, but its time lies 46 d in the past, where 5 min are allowed \[CLOCK\]/,
  )
  for (const now of [
    String(seconds),
    String(at + 299_000),
    '2026-01-15T12:01:00Z',
    '2026-01-15T13:01:00+01:00',
  ])
    assert.equal((await run(...stripe, 'later.http', '--now', now)).code, 0, now)
  const wrong = await run(...stripe, 'later.http', '--now', 'noon')
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /^--now wants a time such as/)
})

test('the report says that an endpoint accepts the token, and whether the right one came', async (t) => {
  const { run } = await createCommandLine(t, {
    ...files,
    'bearer.http': `POST /hooks/plain HTTP/1.1\nAuthorization: Bearer ${hookToken}\n\n{}`,
    'query.http': `POST /hooks/plain?token=${hookToken} HTTP/1.1\n\n{}`,
    'wrong.http': 'POST /hooks/plain HTTP/1.1\nx-gateway-token: another\n\n{}',
  })
  const plain = ['doctor', 'signature', '--endpoint', 'plain', '--request']
  for (const file of ['bearer.http', 'query.http']) {
    const { code, out } = await run(...plain, file)
    assert.equal(code, 0)
    assert.match(out, /^\/plain {2}2xx {2}taken {2}the token is right\n\n! the endpoint has no `verify`/)
    assertDiscreet(out)
  }
  const { code, out } = await run(...plain, 'wrong.http')
  assert.equal(code, 1)
  assert.match(out, /^\/plain {2}401 {2}refused {2}TOKEN_WRONG/)
})

const discord = createDiscordKeys()
const at = Date.UTC(2026, 2, 2, 12) / 1000
const verifyGithub = `{ provider: github, secret: ${secret} }`

const askingConfiguration = `hooks:
  enabled: true
  token: [${hookToken}, ${older}]
  endpoints:
    slack: { verify: { provider: slack, secret: sekret-of-slack-0123456789 } }
    discord: { verify: { provider: discord, publicKey: "${discord.publicKey}" } }
    meta: { verify: { provider: meta, secret: ${secret}, verifyToken: sekret-verify-token-0123 } }
    monday: { verify: { provider: monday } }
    open: { auth: none, verify: ${verifyGithub} }
    opendiscord: { auth: none, verify: { provider: discord, publicKey: "${discord.publicKey}" } }
    bytoken: { auth: token, verify: ${verifyGithub} }
    both: { auth: both, verify: ${verifyGithub} }
    plain: { maxBodyBytes: 1000 }
    empty: { verify: { provider: github, secret: "" } }
`

/** Asks about requests that are made from their lines, and returns the code, the first finding and the status of each result. */
async function createAsking(t: TestContext) {
  const { run, cwd } = await createCommandLine(t, { 'reveille.yaml': askingConfiguration })
  return async (
    endpoint: string,
    headers: Readonly<Record<string, string>>,
    text: string,
    target = `POST /hooks/${endpoint}`,
  ) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    await writeFile(path.join(cwd, 'asked.http'), [`${target} HTTP/1.1`, ...lines, '', text].join('\n'))
    const { out } = await run(
      'doctor',
      'signature',
      '--endpoint',
      endpoint,
      '--request',
      'asked.http',
      '--json',
    )
    assertDiscreet(out)
    const [{ taken, code, status, findings }] = JSON.parse(out).results
    return [taken, code, status ?? findings[0]?.code]
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const challenge = JSON.stringify({ type: 'url_verification', challenge: 'canary', token: 'x' })
const unsignedChallenge = JSON.stringify({ challenge: 'canary' })
const ping = JSON.stringify({ type: 1, id: '1' })
const signed = { 'x-hub-signature-256': signatureOf(body) }
const question = (token: string) =>
  `GET /hooks/meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`

type Asking = Parameters<Awaited<ReturnType<typeof createAsking>>>
const slackSigned = signedBySlack(challenge, 'sekret-of-slack-0123456789', at)
/** The request; whether it is accepted, the code, and the status or the first finding. */
const cases: readonly (readonly [name: string, asking: Asking, expected: readonly unknown[]])[] = [
  ['a signed handshake', ['slack', slackSigned, challenge], [true, 'HANDSHAKE', 200]],
  [
    'a handshake without its signature',
    ['slack', {}, challenge],
    [false, 'SIGNATURE_MISSING', 'HEADER_MISSING'],
  ],
  ['a ping', ['discord', signedByDiscord(ping, discord.privateKey, at), ping], [true, 'HANDSHAKE', 200]],
  ['an unsigned handshake', ['monday', {}, unsignedChallenge], [true, 'HANDSHAKE', 200]],
  [
    'one with a wrong token',
    ['monday', bearer('another'), unsignedChallenge],
    [false, 'TOKEN_WRONG', 'SIGNS_NOTHING'],
  ],
  ['a ping to an open endpoint', ['opendiscord', {}, ping], [true, 'TAKEN', 'SIGNATURE_NOT_ASKED']],
  ["Meta's question", ['meta', {}, '', question('sekret-verify-token-0123')], [true, 'HANDSHAKE', 200]],
  ['one with another token', ['meta', {}, '', question('another')], [false, 'HANDSHAKE_WRONG', 403]],
  ['a GET that asks nothing', ['meta', {}, '', 'GET /hooks/meta'], [false, 'METHOD_NOT_ALLOWED', undefined]],
  ['no policy, no token', ['plain', {}, body], [false, 'TOKEN_MISSING', 'NO_VERIFY']],
  ['a policy without its secret', ['empty', bearer(hookToken), body], [true, 'TAKEN', 'NO_SECRET']],
  ['a sender that signs nothing', ['monday', bearer(hookToken), body], [true, 'TAKEN', 'SIGNS_NOTHING']],
  ['a wrong token', ['bytoken', bearer('another'), body], [false, 'TOKEN_WRONG', 'SIGNATURE_NOT_ASKED']],
  ['an open endpoint', ['open', {}, body], [true, 'TAKEN', 'SIGNATURE_NOT_ASKED']],
  ['both asked, no token', ['both', signed, body], [false, 'TOKEN_MISSING', undefined]],
  ['both asked, both right', ['both', { ...signed, ...bearer(hookToken) }, body], [true, 'TAKEN', undefined]],
  [
    'both asked, another body',
    ['both', { ...signed, ...bearer(hookToken) }, `${body}\n`],
    [false, 'SIGNATURE_MISMATCH', 'BODY_FORM'],
  ],
]

test('each request is judged as the gateway would: handshakes, tokens, signatures, and why one is not looked at', async (t) => {
  const ask = await createAsking(t)
  for (const [name, asking, expected] of cases) assert.deepEqual(await ask(...asking), expected, name)
})

test('a signature made with the hook token or with the secret of another endpoint is reported with the place of that secret', async (t) => {
  const { run } = await createCommandLine(t, {
    ...files,
    'token.http': message(signatureOf(body, hookToken)),
    'stripe.http': message(signatureOf(body, 'whsec_sekret-of-stripe-0123456789')),
  })
  for (const [file, expected] of [
    ['token.http', /^✗ it fits the secret of hooks\.token \[OTHER_ENDPOINT\]$/m],
    ['stripe.http', /^✗ it fits the secret of endpoints\.stripe\.verify \[OTHER_ENDPOINT\]$/m],
  ] as const) {
    const { out } = await run(...github, file)
    assert.match(out, expected)
    assertDiscreet(out)
  }
})

test('keys are fetched, but not with --offline, and nothing but https is ever asked', async (t) => {
  const asked: string[] = []
  const fetched: typeof fetch = async (address) => {
    asked.push(String(address))
    throw new TypeError('no network')
  }
  const certificate = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem'
  const sns = JSON.stringify({
    Type: 'Notification',
    MessageId: '1',
    TopicArn: 'arn:aws:sns:eu-central-1:123456789012:alerts',
    Message: 'canary',
    Timestamp: '2026-03-02T12:00:00.000Z',
    SignatureVersion: '2',
    Signature: Buffer.alloc(256).toString('base64'),
    SigningCertURL: certificate,
  })
  const { run } = await createCommandLine(
    t,
    {
      ...files,
      'sns.http': `POST /hooks/alerts HTTP/1.1\nx-amz-sns-message-type: Notification\n\n${sns}`,
    },
    { fetch: fetched },
  )
  const alerts = ['doctor', 'signature', '--endpoint', 'alerts', '--request', 'sns.http']
  const offline = await run(...alerts, '--offline')
  assert.match(offline.out, /^\/alerts {2}503 {2}refused {2}KEYS_UNAVAILABLE/)
  assert.deepEqual([offline.code, asked], [1, []])
  await run(...alerts)
  assert.deepEqual(asked, [certificate])
})

test('an endpoint that nothing covers is 404, with the nearest name', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, out } = await run('doctor', 'signature', '--endpoint', 'gihub', '--request', 'good.http')
  assert.equal(code, 1)
  assert.match(out, /^\/gihub {2}404 {2}refused {2}NOT_FOUND[\s\S]*Did you mean github\?/)
})

test('an endpoint may be given by its path', async (t) => {
  const { run } = await createCommandLine(t, files)
  for (const name of ['/github', '/hooks/github']) {
    const { code, out } = await run('doctor', 'signature', '--endpoint', name, '--request', 'good.http')
    assert.deepEqual([code, out.slice(0, 8)], [0, '/github '], name)
  }
})

test('the id of a request is bad usage, and the command says what to save instead', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { code, err } = await run(...github, '4d2261')
  assert.equal(code, 2)
  assert.match(err, /does not store the bodies of requests that it refuses/)
})

test('hooks that are not enabled are diagnosed all the same, and said to be off', async (t) => {
  const off = configuration.replace('enabled: true', 'enabled: false')
  const { run } = await createCommandLine(t, { ...files, 'reveille.yaml': off })
  const { code, err } = await run(...github, 'good.http')
  assert.equal(code, 0)
  assert.match(err, /^`hooks\.enabled` is false/)
})

test('without endpoint or request it is bad usage, and the help names both', async (t) => {
  const { run } = await createCommandLine(t, files)
  assert.equal((await run('doctor', 'signature', '--endpoint', 'github')).code, 2)
  assert.equal((await run('doctor', 'signature', '--request', 'good.http')).code, 2)
  const { code, out } = await run('doctor', 'signature', '--help')
  assert.equal(code, 0)
  assert.match(out, /--endpoint <name>[\s\S]*--request <file>[\s\S]*--offline/)
})
