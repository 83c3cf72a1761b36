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
import { assertAnswer, createCommandLine, testTranscript } from '../io-fixture.ts'

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

const later = Date.UTC(2026, 0, 15, 12)
const stripeHeaders = Object.entries(signedByStripe(body, 'whsec_sekret-of-stripe-0123456789', later / 1000))

const files = {
  'reveille.yaml': configuration,
  'good.http': message(signatureOf(body)),
  'older.http': message(signatureOf(body, older)),
  'rewritten.http': message(signatureOf(body), JSON.stringify(JSON.parse(body), null, 2)),
  'token.http': message(signatureOf(body, hookToken)),
  'stripe.http': message(signatureOf(body, 'whsec_sekret-of-stripe-0123456789')),
  'later.http': `POST /hooks/stripe HTTP/1.1\n${stripeHeaders.map(([name, value]) => `${name}: ${value}\n`).join('')}\n${body}`,
  'bearer.http': `POST /hooks/plain HTTP/1.1\nAuthorization: Bearer ${hookToken}\n\n{}`,
  'query.http': `POST /hooks/plain?token=${hookToken} HTTP/1.1\n\n{}`,
  'wrong.http': 'POST /hooks/plain HTTP/1.1\nx-gateway-token: another\n\n{}',
}

/** `github good.http --json`: the endpoint, the file of the request, and other options. */
function signature(words: string): readonly string[] {
  const [endpoint = '', file = '', ...options] = words.split(' ')
  return ['doctor', 'signature', '--endpoint', endpoint, '--request', file, ...options]
}

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

const asked = 'doctor signature --endpoint github --request'
const stripe = 'doctor signature --endpoint stripe --request later.http'
const plain = 'doctor signature --endpoint plain --request'

testTranscript(
  files,
  `
# a request that would be accepted is reported with the secret that matches
$ ${asked} good.http
/github  2xx  taken  the signature is right

provider  github
secret    1 of 2
body      ${body.length} bytes
SHA-256   …
clock     2026-03-02T12:00:00.000Z

# a secret that is no longer the newest is a warning
$ ${asked} older.http
…an older secret fits… [OLDER_SECRET]

# a request that would be refused is reported with what differs and what to do
1 $ ${asked} rewritten.http
/github  401  refused  SIGNATURE_MISMATCH  the signature does not match…
✗ it fits the body written as compact JSON: something …rewrote it [BODY_FORM]
  → …

# a signature made with the hook token or with the secret of another endpoint is reported with the place of that secret
1 $ ${asked} token.http
✗ it fits the secret of hooks.token [OTHER_ENDPOINT]
1 $ ${asked} stripe.http
✗ it fits the secret of endpoints.stripe.verify [OTHER_ENDPOINT]

# the clock is that of --now, else that of this machine
$ ${stripe} --now ${later / 1000}
/stripe  2xx  taken…
clock     2026-01-15T12:00:00.000Z, by --now
$ ${stripe} --now ${later + 299_000}
/stripe  2xx  taken…
$ ${stripe} --now 2026-01-15T12:01:00Z
/stripe  2xx  taken…
$ ${stripe} --now 2026-01-15T13:01:00+01:00
/stripe  2xx  taken…
1 $ ${stripe}
…TIMESTAMP_OUTSIDE…
✗ the signature is right, but its time lies 46 d in the past, where 5 min are allowed [CLOCK]
2 $ ${stripe} --now noon
! --now takes a span such as…

# the report says that an endpoint accepts the token, and whether the right one came
$ ${plain} bearer.http
/plain  2xx  taken  the token is right

…the endpoint has no \`verify\`…
$ ${plain} query.http
/plain  2xx  taken  the token is right

…the endpoint has no \`verify\`…
1 $ ${plain} wrong.http
/plain  401  refused  TOKEN_WRONG…

# an endpoint that nothing covers is 404, with the nearest name
1 $ doctor signature --endpoint gihub --request good.http
/gihub  404  refused  NOT_FOUND…
…Did you mean github?…

# an endpoint may be given by its path
$ doctor signature --endpoint /github --request good.http
/github …
$ doctor signature --endpoint /hooks/github --request good.http
/github …

# the id of a request is bad usage, and the command says what to save instead
2 $ ${asked} 4d2261
! …does not store the bodies of requests that it refuses…

# hooks that are not enabled are diagnosed all the same, and said to be off
+ reveille.yaml: hooks: { token: ${hookToken}, endpoints: { github: { verify: { provider: github, secret: ${secret} } } } }
$ ${asked} good.http
/github  2xx  taken…
! \`hooks.enabled\` is false…

# without endpoint or request it is bad usage, and the help names both
2 $ doctor signature --endpoint github
! …
2 $ doctor signature --request good.http
! …
$ doctor signature --help
…--endpoint <name>…
…--request <file>…
…--offline…
`,
)

test('no report holds a secret, a signature or anything of the body', async (t) => {
  const { run } = await createCommandLine(t, files)
  for (const file of Object.keys(files).filter((name) => name.endsWith('.http')))
    for (const endpoint of ['github', 'stripe', 'plain']) {
      const { out, err } = await run(...signature(`${endpoint} ${file}`))
      assertDiscreet(out + err)
    }
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
    const { out } = await run(...signature(`${endpoint} asked.http --json`))
    assertDiscreet(out)
    const { ok, endpoint: named, results } = JSON.parse(out)
    const [{ taken, code, status, findings }] = results
    assert.deepEqual([ok, named], [taken, endpoint])
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
  const request = `POST /hooks/alerts HTTP/1.1\nx-amz-sns-message-type: Notification\n\n${sns}`
  const { run } = await createCommandLine(t, { ...files, 'sns.http': request }, { fetch: fetched })
  assertAnswer(await run(...signature('alerts sns.http --offline')), {
    code: 1,
    out: /^\/alerts {2}503 {2}refused {2}KEYS_UNAVAILABLE/,
  })
  assert.deepEqual(asked, [])
  await run(...signature('alerts sns.http'))
  assert.deepEqual(asked, [certificate])
})
