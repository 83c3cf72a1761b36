/** Tests the pitfalls of each sender's signatures, with our own bodies and digests that are made independently. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { test } from 'node:test'
import { providerRows } from '../providers/index.ts'
import { digest, now, proven, type Row, type Sent, seconds, testRows, verifyBy } from './signing-fixture.ts'

const secret = 'a secret of the tests'
/** A body that changes when it is parsed and written again: escapes, trailing white space, letters beyond ASCII. */
const body = '{"name":"Zażółć \\u00e9 \\/ 🚀", "id": 820982911946154508}\n'
const rewritten = { body: JSON.stringify(JSON.parse(body)) }
const form = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
const zeros = '0'.repeat(64)
const [sha1, sha256] = [`sha1=${digest(body, secret, 'sha1')}`, `sha256=${digest(body, secret)}`]
const base64 = (signed: string, key: string | Buffer = secret) => digest(signed, key, 'sha256', 'base64')

/** Rows for one sender, which signs `body` with `secret` unless a row says otherwise. */
function trap(title: string, provider: string | readonly string[], ...rows: readonly Row[]) {
  for (const each of [provider].flat()) testRows(title, { provider: each, secret }, { body }, ...rows)
}
/** The same for a sender of one header. */
const rowsOf = (header: string, ...rows: [expected: string, value: string, more?: Row[2]][]): Row[] =>
  rows.map(([expected, value, more]) => [expected, { [header]: value }, more])

trap(
  'GitHub: SHA-1 is never accepted in place of SHA-256',
  'github',
  ['SIGNATURE_WEAKER', { 'x-hub-signature': sha1 }],
  ['SIGNATURE_MALFORMED', { 'x-hub-signature-256': sha1 }],
  [
    'SIGNATURE_MISMATCH',
    { 'x-hub-signature': sha1, 'x-hub-signature-256': `sha256=${digest(body, 'other')}` },
  ],
)

const encoded = new URLSearchParams({ payload: body }).toString()
trap(
  'GitHub: a form is signed as it was encoded, with the JSON inside',
  'github',
  ['good', { 'x-hub-signature-256': `sha256=${digest(encoded, secret)}`, ...form }, { body: encoded }],
  ['SIGNATURE_MISMATCH', { 'x-hub-signature-256': sha256, ...form }, { body: encoded }],
)

const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a])
trap(
  'bodies are bytes: a body that is not text is digested verbatim',
  'github',
  ...rowsOf(
    'x-hub-signature-256',
    ['good', `sha256=${digest(bytes, secret)}`, { body: bytes }],
    ['SIGNATURE_MISMATCH', `sha256=${digest(bytes, secret)}`, { body: bytes.toString() }],
  ),
)

const stripe = (version = 'v1', time = seconds, key: string | Buffer = secret) =>
  `t=${time},${version}=${digest(`${time}.${body}`, key)}`
const stripeKey = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const ofStripe = { policy: { secret: stripeKey } }
trap(
  'Stripe: the key is the whole secret, although it looks like base64',
  'stripe',
  ...rowsOf(
    'stripe-signature',
    ['good', stripe('v1', seconds, stripeKey), ofStripe],
    ['SIGNATURE_MISMATCH', stripe('v1', seconds, Buffer.from(stripeKey.slice(6), 'base64')), ofStripe],
  ),
)
trap(
  'Stripe: only v1 counts, wherever it is among others',
  'stripe',
  ...rowsOf(
    'stripe-signature',
    ['SIGNATURE_MALFORMED', stripe('v0')],
    ['good', `${stripe('v0')}, v1=${zeros} , v1=${digest(`${seconds}.${body}`, secret)}`],
  ),
)
trap(
  'Stripe: the time is checked in both directions, after the signature',
  'stripe',
  ...rowsOf(
    'stripe-signature',
    ['good', stripe('v1', seconds - 300)],
    ['good', stripe('v1', seconds + 300)],
    ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 301)],
    ['SIGNATURE_MISMATCH', stripe('v1', seconds - 301), { body: `${body} ` }],
    // 300.9 s have passed, and 300 in the whole seconds that the sender counts.
    ['good', stripe('v1', seconds - 300), { now: now + 900 }],
    ['good', stripe('v1', seconds - 3600), { policy: { tolerance: '1h' } }],
    ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 11), { policy: { tolerance: '10s' } }],
  ),
)
test('a wrong time is reported with its distance', async () => {
  for (const skewSeconds of [-301, 3600])
    assert.deepEqual(
      await verifyBy(
        { provider: 'stripe', secret },
        { body, headers: { 'stripe-signature': stripe('v1', seconds + skewSeconds) } },
      ),
      { ok: false, code: 'TIMESTAMP_OUTSIDE', skewSeconds },
    )
})

function slack(text: string, time: string | number = seconds): Sent['headers'] {
  return {
    'x-slack-signature': `v0=${digest(`v0:${time}:${text}`, secret)}`,
    'x-slack-request-timestamp': String(time),
  }
}
trap(
  'Slack: a time that is not a number is refused, although it is signed',
  'slack',
  ['TIMESTAMP_MISSING', slack(body, '')],
  ['TIMESTAMP_OUTSIDE', slack(body, seconds + 3600)],
  ...['soon', 'NaN', `${seconds}.0`, `+${seconds}`, '1e9', ` ${seconds}x`, '9'.repeat(400)].map(
    (time): Row => ['TIMESTAMP_MALFORMED', slack(body, time)],
  ),
)
const command = 'token=deprecated&command=%2Fdeploy&text=now+please'
trap(
  'Slack: a form is signed as it was encoded, and the token in the body proves nothing',
  'slack',
  ['good', { ...slack(command), ...form }, { body: command }],
  ['SIGNATURE_MISMATCH', { ...slack(command), ...form }, { body: command.replaceAll('+', '%20') }],
  ['SIGNATURE_MISSING', {}, { body: command, policy: { secret: 'deprecated' } }],
)

const raw = Buffer.from('0123456789abcdef0123456789abcdef')
const whsec = `whsec_${raw.toString('base64')}`
const signed = `msg_1.${seconds}.${body}`
const good = `v1,${base64(signed, raw)}`
const wrong = `v1,${Buffer.alloc(32).toString('base64')}`
const standard = (signature = good, names = 'webhook', id = 'msg_1'): Sent['headers'] => ({
  [`${names}-id`]: id,
  [`${names}-timestamp`]: String(seconds),
  [`${names}-signature`]: signature,
})
const byStandard = (title: string, ...rows: Row[]) =>
  testRows(title, { provider: 'standard-webhooks', secret: whsec }, { body }, ...rows)

byStandard(
  'Standard Webhooks: spaces divide signatures, and the id is signed with the rest',
  ['good', standard(`v2,x v1,bad v1a,AAAA ${good}`)],
  ['SIGNATURE_MISMATCH', standard(good, 'webhook', 'msg_2')],
  ['SIGNATURE_MALFORMED', standard(good.replace('v1,', 'v2,'))],
  ['SIGNATURE_MALFORMED', standard(good, 'webhook', '')],
)
byStandard(
  'Standard Webhooks: a secret is base64, with or without its prefix and padding, and its text is not the key',
  ...[whsec, whsec.slice(6), whsec.replace(/=+$/, '')].map(
    (secret): Row => ['good', standard(), { policy: { secret } }],
  ),
  ['SIGNATURE_MISMATCH', standard(`v1,${base64(signed, whsec)}`)],
)

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const keyBytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const both = { policy: { publicKey: `whpk_${keyBytes.toString('base64')}` } }
const keyAlone = { policy: { ...both.policy, secret: undefined } }
const asymmetric = `v1a,${sign(null, Buffer.from(signed), privateKey).toString('base64')}`
byStandard(
  'Standard Webhooks: with a secret and a key, a signature that matches either is enough, and a key alone accepts no digest',
  ['good', standard(), both],
  ['good', standard(asymmetric), both],
  ['good', standard(`${wrong} ${asymmetric}`), both],
  ['SIGNATURE_MISMATCH', standard(wrong), both],
  ['SIGNATURE_MALFORMED', standard(), keyAlone],
  // A public key is known to everyone, so a digest that is made with it proves nothing.
  ['SIGNATURE_MALFORMED', standard(`v1,${base64(signed, keyBytes)}`), keyAlone],
)
byStandard(
  'Svix, Resend and OpenAI sign by the same specification, and the first two use header names of their own as well',
  ['good', standard(good, 'svix'), { policy: { provider: 'svix' } }],
  ['good', standard(), { policy: { provider: 'svix' } }],
  ['good', standard(good, 'svix'), { policy: { provider: 'resend' } }],
  ['good', standard(), { policy: { provider: 'resend' } }],
  ['good', standard(), { policy: { provider: 'openai' } }],
  ['SIGNATURE_MISSING', standard(good, 'svix'), { policy: { provider: 'openai' } }],
)
byStandard(
  'an empty key is never accepted: a secret that decodes to no bytes matches no signature',
  ...['whsec_', 'whsec_====', 'whsec_no base64 at all'].map(
    (secret): Row => ['SIGNATURE_MISMATCH', standard(`v1,${base64(signed, '')}`), { policy: { secret } }],
  ),
)

trap(
  'Shopify: escaped slashes and long numbers are signed verbatim, under either name of the header',
  'shopify',
  ['good', { 'x-shopify-hmac-sha256': base64(body) }],
  ['good', { 'shopify-hmac-sha256': base64(body) }],
  ['SIGNATURE_MISMATCH', { 'x-shopify-hmac-sha256': base64(body) }, rewritten],
)

const token = { 'x-gitlab-token': secret }
trap(
  'GitLab: the form of the secret shows its kind, and a signing token is never accepted as a plain token',
  'gitlab',
  ['good', token],
  ['good', standard(), { policy: { secret: whsec } }],
  ['SIGNATURE_WEAKER', token, { policy: { secret: whsec } }],
  ['SIGNATURE_WEAKER', { 'x-gitlab-token': whsec }, { policy: { secret: whsec } }],
)
const rotated = { policy: { secret: [whsec, secret] } }
trap(
  'GitLab: with secrets of both forms, a signature that is present has to be right',
  'gitlab',
  ['good', { ...standard(), ...token }, rotated],
  ['SIGNATURE_MISMATCH', { ...standard(wrong), ...token }, rotated],
  ['good', token, rotated],
)
test('the scheme that matched is reported, and which of the secrets', async () => {
  const policy = { provider: 'gitlab', ...rotated.policy }
  const result = await verifyBy(policy, { body, headers: token })
  assert.deepEqual(result, { ok: true, scheme: 'token', secret: 1 })
})

const linear = (expected: string, body: string, header = now): Row => [
  expected,
  { 'linear-signature': digest(body, secret), 'linear-timestamp': String(header) },
  { body },
]
const at = (time: unknown) => `{"action":"create","webhookTimestamp":${JSON.stringify(time)}}`
trap(
  'Linear: the time in the signed body counts, and not the one in a header',
  'linear',
  linear('good', at(now - 60_000), now - 3_600_000),
  linear('TIMESTAMP_OUTSIDE', at(now - 60_001)),
  linear('TIMESTAMP_MISSING', '{}'),
  linear('BODY_MALFORMED', 'no JSON'),
  ...[1.5, -1, 1e300, true, {}, 'x'].map((time) => linear('TIMESTAMP_MALFORMED', at(time))),
  linear('good', `{"text":"${'x'.repeat(100_000)}","webhookTimestamp":${now}}`),
)

const hex = 'ab'.repeat(32)
const sentry = { 'sentry-hook-signature': digest(body, hex), 'sentry-hook-timestamp': '1' }
const ui = { 'sentry-app-signature': digest(body, secret) }
const uiHmac = { header: 'Sentry-App-Signature', algorithm: 'sha256', encoding: 'hex', key: 'text' } as const
trap(
  'Sentry: the secret is a text although it looks like hex, a time that is not signed is not checked, and the header of UI components counts only where it is configured',
  'sentry',
  ['good', sentry, { policy: { secret: hex } }],
  ['good', sentry, { policy: { secret: hex, tolerance: '1m' } }],
  ['SIGNATURE_MISSING', ui],
  ['good', ui, { policy: { provider: 'hmac', hmac: { ...uiHmac, signed: '{body}', timestampUnit: 's' } } }],
)

const pager = digest(body, secret)
trap(
  'PagerDuty: one of several signatures matches, whatever the spaces and the case, and of a long list only the beginning is read',
  'pagerduty',
  ...rowsOf(
    'x-pagerduty-signature',
    ['good', `v1=${zeros},v1=${pager}`],
    ['good', `v1=${zeros}, v1=${pager.toUpperCase()}`],
    ['good', `v2=x,v1=${pager}`],
    ['SIGNATURE_MALFORMED', `v2=${pager}`],
    ['good', `${`v1=${zeros},`.repeat(99)}v1=${pager}`],
    ['SIGNATURE_MISMATCH', `${`v1=${zeros},`.repeat(5000)}v1=${pager}`],
  ),
)

const twilioUrl = 'https://hooks.example.com/hooks/twilio'
const fields = 'Body=a+b%2B1&From=%2B49&Media=2&Media=1&Media=2&A='
const twilioSigned = 'ABodya b+1From+49Media1Media2'
const query = `?bodySHA256=${hash('sha256', body)}`
const json = { headers: { 'content-type': 'application/json' } }
const covered = { ...json, target: `/hooks/twilio${query}`, body }
function twilio(expected: string, signed: string, more: Row[2] = {}): Row {
  const { headers, ...sent } = more
  const signature = { 'x-twilio-signature': digest(signed, secret, 'sha1', 'base64') }
  return [expected, { ...signature, ...form, ...headers }, { body: fields, ...sent }]
}
const byTwilio = (title: string, ...rows: Row[]) =>
  testRows(title, { provider: 'twilio', secret, publicUrl: twilioUrl }, { target: '/hooks/twilio' }, ...rows)

byTwilio(
  'Twilio: fields are decoded, sorted, and each distinct value is signed once, with SHA-1 alone',
  twilio('good', twilioUrl + twilioSigned),
  twilio('SIGNATURE_MISMATCH', `${twilioUrl}${fields}`),
  twilio('SIGNATURE_MISMATCH', twilioUrl + twilioSigned, { body: `${fields}&More=1` }),
  twilio('SIGNATURE_MALFORMED', '', { headers: { 'x-twilio-signature': base64(twilioUrl + twilioSigned) } }),
)
const withPort = 'https://hooks.example.com:443/hooks/twilio'
const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
byTwilio(
  'Twilio: the address is the configured one, with or without its port, whatever headers say',
  twilio('good', withPort + twilioSigned),
  twilio('good', twilioUrl + twilioSigned, { policy: { publicUrl: withPort } }),
  twilio('good', twilioUrl + twilioSigned, { policy: { publicUrl: `${twilioUrl}#rc=2` } }),
  twilio('SIGNATURE_MISMATCH', `https://evil.example/hooks/twilio${twilioSigned}`, { headers: evil }),
  twilio('SIGNATURE_MISMATCH', `http://hooks.example.com/hooks/twilio${twilioSigned}`),
)
byTwilio(
  'Twilio: JSON is covered by its digest in the query, or not at all',
  twilio('good', twilioUrl + query, covered),
  twilio('SIGNATURE_MISMATCH', twilioUrl + query, { ...covered, body: `${body} ` }),
  twilio('BODY_NOT_COVERED', twilioUrl, { ...json, body }),
  twilio('BODY_NOT_COVERED', twilioUrl, { headers: { 'content-type': undefined }, body }),
  // JSON that is labelled as a form is not covered as one.
  twilio('BODY_NOT_COVERED', `${twilioUrl}{"a":"b"}`, { body: '{"a":"b"}' }),
)

test('without the configured address, a signature that covers it is refused, and the reason names the missing setting', async () => {
  const headers = { 'x-square-hmacsha256-signature': base64(body), host: 'a.example' }
  const result = await verifyBy({ provider: 'square', secret }, { body, headers })
  assert.match((!result.ok && result.reason) || '', /verify\.publicUrl/)
})

const zoom = (time: number) => ({
  'x-zm-signature': `v0=${digest(`v0:${seconds}:${body}`, secret)}`,
  'x-zm-request-timestamp': String(time),
})
trap(
  'Zoom: the time is signed, and the former token proves nothing',
  'zoom',
  ['good', zoom(seconds)],
  ['SIGNATURE_MISMATCH', zoom(seconds + 1)],
  ['SIGNATURE_MISSING', { authorization: secret }],
)

const paddleDigest = (time = seconds, joint = ':') => digest(`${time}${joint}${body}`, secret)
const paddle = (time: number, ...digests: string[]) =>
  [`ts=${time}`, ...digests.map((each) => `h1=${each}`)].join(';')
const late = paddle(seconds - 10, paddleDigest(seconds - 10))
trap(
  'Paddle: elements are divided by semicolons, the signed text is joined by a colon, any of several digests may match, and the tolerance of five seconds can be raised',
  'paddle',
  ...rowsOf(
    'paddle-signature',
    ['good', paddle(seconds, paddleDigest(), zeros)],
    ['good', paddle(seconds, zeros, paddleDigest())],
    ['SIGNATURE_MISMATCH', paddle(seconds, paddleDigest(seconds, '.'))],
    ['TIMESTAMP_OUTSIDE', late],
    ['good', late, { policy: { tolerance: '10s' } }],
  ),
)

trap(
  'Intercom: it signs with SHA-1, and the header cannot choose another hash',
  'intercom',
  ...rowsOf('x-hub-signature', ['good', sha1], ['SIGNATURE_MALFORMED', sha256]),
)
trap(
  'Bitbucket and Jira: the header of that name holds SHA-256, and no weaker hash is accepted',
  ['bitbucket', 'jira'],
  ...rowsOf('x-hub-signature', ['good', sha256], ['SIGNATURE_MALFORMED', sha1]),
  ['SIGNATURE_MISSING', { 'x-hub-signature-256': sha256 }],
)
trap(
  'Typeform: base64 follows the prefix, with its equals signs',
  'typeform',
  ...rowsOf('typeform-signature', ['good', `sha256=${base64(body)}`], ['SIGNATURE_MALFORMED', sha256]),
)
trap(
  'Calendly: the tolerance is three minutes, not five',
  'calendly',
  ...rowsOf(
    'calendly-webhook-signature',
    ['good', stripe('v1', seconds - 180)],
    ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 181)],
  ),
)

const squareUrl = 'https://hooks.example.com/hooks/square?shop=1'
const squareSent = { policy: { publicUrl: squareUrl }, target: '/hooks/square?shop=1' }
trap(
  'Square: the address is signed byte for byte, and the older header never counts',
  'square',
  ...rowsOf(
    'x-square-hmacsha256-signature',
    ['good', base64(squareUrl + body), squareSent],
    ['SIGNATURE_MISMATCH', base64(squareUrl + body), { ...squareSent, target: '/hooks/square?shop=2' }],
    ['SIGNATURE_MISMATCH', base64(body), squareSent],
  ),
  [
    'SIGNATURE_WEAKER',
    { 'x-square-signature': digest(squareUrl + body, secret, 'sha1', 'base64') },
    squareSent,
  ],
)

const hubspotUrl = 'https://hooks.example.com/hooks/hubspot'
const hubspotTarget = '/hooks/hubspot?to=a%40b&path=%2fx&q=a%20b'
const hubspot = (
  expected: string,
  url: string,
  time = now,
  target = '/hooks/hubspot',
  method = 'POST',
): Row => [
  expected,
  {
    'x-hubspot-signature-v3': base64(`${method}${url}${body}${time}`),
    'x-hubspot-request-timestamp': String(time),
  },
  { policy: { publicUrl: hubspotUrl }, target },
]
trap(
  'HubSpot: the time is in milliseconds, some escapes are decoded or none, and no older version is accepted',
  'hubspot',
  hubspot('good', `${hubspotUrl}?to=a@b&path=/x&q=a%20b`, now, hubspotTarget),
  hubspot('good', `${hubspotUrl}?to=a%40b&path=%2fx&q=a%20b`, now, hubspotTarget),
  hubspot('good', hubspotUrl, now - 300_000),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, now - 300_001),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, now + 3_600_000),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, seconds),
  hubspot('SIGNATURE_MISMATCH', hubspotUrl, now, '/hooks/hubspot', 'GET'),
  [
    'SIGNATURE_WEAKER',
    { 'x-hubspot-signature': hash('sha256', secret + body), 'x-hubspot-signature-version': 'v1' },
    { policy: { publicUrl: hubspotUrl } },
  ],
)

const mailToken = 'f00d'
const mailSignature = digest(`${seconds}${mailToken}`, secret)
const mailgun = (expected: string, more: object, data = 'delivered'): Row => {
  const signature = { timestamp: String(seconds), token: mailToken, signature: mailSignature, ...more }
  return [expected, {}, { body: JSON.stringify({ signature, 'event-data': { data } }) }]
}
const inbound = `timestamp=${seconds}&token=${mailToken}&signature=${mailSignature}&subject=%C3%A4+b`
trap(
  'Mailgun: the signature is in the body, JSON or form, and covers time and token alone',
  'mailgun',
  mailgun('good', {}),
  mailgun('good', {}, 'anything else'),
  mailgun('SIGNATURE_MISMATCH', { token: 'beef' }),
  mailgun('SIGNATURE_MISMATCH', { timestamp: '1' }),
  mailgun('SIGNATURE_MALFORMED', { signature: [mailSignature] }),
  ['SIGNATURE_MISSING', {}, { body: '{}' }],
  ['BODY_MALFORMED', {}, { body: '<xml/>' }],
  ['good', form, { body: inbound }],
  ['TIMESTAMP_OUTSIDE', form, { body: inbound, now: now + 301_000 }],
  ['BODY_MALFORMED', form, { body: `${inbound}&${'a=1&'.repeat(2000)}` }],
)

const packed = { 'content-encoding': 'br' }
byTwilio(
  'a compressed body is refused if the signed values are inside of it, because mappings would not see what was verified',
  ['BODY_NOT_COVERED', packed, { ...mailgun('', {})[2], policy: { provider: 'mailgun' } }],
  twilio('BODY_NOT_COVERED', twilioUrl + twilioSigned, { headers: packed }),
  twilio('good', twilioUrl + twilioSigned, { headers: { 'content-encoding': 'identity' } }),
  // The digest is of the bytes as they were sent.
  twilio('good', twilioUrl + query, { ...covered, headers: packed }),
)

const payload = 'x=1&payload={"evil":true}&y='
// The body may quote, for example, a comment that an unauthenticated client wrote.
const genuine = { body: `{"comment":"hi.${seconds}.${payload}"}` }
const sealed = (id: string) => `v1,${base64(`${id}.${seconds}.${genuine.body}`, raw)}`
testRows(
  'an id cannot absorb the time and the beginning of the body',
  { provider: 'svix', secret: whsec },
  genuine,
  ['good', standard(sealed('msg_1'), 'svix')],
  [
    'SIGNATURE_MALFORMED',
    standard(sealed('msg_1'), 'svix', `msg_1.${seconds}.{"comment":"hi`),
    { body: `${payload}"}` },
  ],
  // Ids may contain dots.
  ['good', standard(sealed('a.b.1'), 'svix', 'a.b.1')],
)

const docuSignKey = 'ibFTzDfPXJ2EuqNHj31C155COVwaB1UZy0FsF4Rw7mE='
const xml = '<?xml version="1.0"?><DocuSignEnvelopeInformation/>'
testRows(
  'DocuSign: every numbered header counts, for XML as for JSON, and the key is a text',
  { provider: 'docusign', secret: docuSignKey },
  { body: xml },
  ...[2, 17, 100].map(
    (number): Row => [
      'good',
      {
        'x-docusign-signature-1': base64(xml, 'other'),
        [`x-docusign-signature-${number}`]: base64(xml, docuSignKey),
      },
    ],
  ),
  ['SIGNATURE_MISMATCH', { 'x-docusign-signature-1': base64(xml, Buffer.from(docuSignKey, 'base64')) }],
  ['SIGNATURE_MISSING', { 'x-authorization-digest': 'HMACSHA256' }],
)

const verifyToken = { policy: { verifyToken: 'shown in a query' } }
trap(
  'Meta: escapes are signed verbatim, with the secret of the app and never with the verify token',
  'meta',
  ['good', { 'x-hub-signature-256': sha256 }, verifyToken],
  ['SIGNATURE_MISMATCH', { 'x-hub-signature-256': sha256 }, rewritten],
  [
    'SIGNATURE_MISMATCH',
    { 'x-hub-signature-256': `sha256=${digest(body, 'shown in a query')}` },
    verifyToken,
  ],
  ['SIGNATURE_WEAKER', { 'x-hub-signature': sha1 }],
)
trap(
  'Telegram: the secret is compared as a whole',
  'telegram',
  ...rowsOf(
    'x-telegram-bot-api-secret-token',
    ['good', secret],
    ['SIGNATURE_MISMATCH', secret.slice(1)],
    ['SIGNATURE_MISMATCH', `${secret}x`],
    ['SIGNATURE_MISMATCH', secret.toUpperCase()],
  ),
)
for (const [provider, header, ...rows] of [
  ['vercel', 'x-vercel-signature', ['good', sha1.slice(5)]],
  [
    'elevenlabs',
    'elevenlabs-signature',
    ['good', stripe('v0', seconds - 1800)],
    ['TIMESTAMP_OUTSIDE', stripe('v0', seconds - 1801)],
  ],
  ['notion', 'x-notion-signature', ['good', sha256]],
  ['grafana', 'x-grafana-alerting-signature', ['good', sha256.slice(7)]],
] as [string, string, ...[string, string][]][])
  trap(`${provider} signs as its guide describes`, provider, ...rowsOf(header, ...rows))

test('a good request of every provider is verified, with a signature that is made without our code', () => {
  // These have tests of their own in `families`, and the last three sign nothing.
  const elsewhere = [
    'aws-sns',
    'discord',
    'google-pubsub',
    'sendgrid',
    'cloudevents',
    'microsoft-graph',
    'monday',
  ]
  const others = providerRows.filter(({ name }) => !proven.has(name) && !elsewhere.includes(name))
  assert.deepEqual(
    others.map(({ name }) => name),
    [],
  )
})
