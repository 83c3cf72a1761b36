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

/** A row in which a string is the value of the sender's own header. */
type ShortRow = readonly [expected: string, headers: Sent['headers'] | string, more?: Row[2]]

/** Titles and rows for one sender, which signs `body` with `secret` unless a row says otherwise. */
function trap(provider: string, header: string, ...table: readonly (string | ShortRow)[]) {
  const whole = table.map((each): string | Row => {
    if (typeof each === 'string') return each
    const [expected, headers, more] = each
    return [expected, typeof headers === 'string' ? { [header]: headers } : headers, more]
  })
  testRows({ provider, secret }, { body }, ...whole)
}

const encoded = new URLSearchParams({ payload: body }).toString()
const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a])
const signedForm = { 'x-hub-signature-256': `sha256=${digest(encoded, secret)}`, ...form }
trap(
  'github',
  'x-hub-signature-256',
  'GitHub: SHA-1 is never accepted in place of SHA-256',
  ['SIGNATURE_WEAKER', { 'x-hub-signature': sha1 }],
  ['SIGNATURE_MALFORMED', sha1],
  [
    'SIGNATURE_MISMATCH',
    { 'x-hub-signature': sha1, 'x-hub-signature-256': `sha256=${digest(body, 'other')}` },
  ],
  'GitHub: a form is signed as it was encoded, with the JSON inside',
  ['good', signedForm, { body: encoded }],
  ['SIGNATURE_MISMATCH', { 'x-hub-signature-256': sha256, ...form }, { body: encoded }],
  'bodies are bytes: a body that is not text is digested verbatim',
  ['good', `sha256=${digest(bytes, secret)}`, { body: bytes }],
  ['SIGNATURE_MISMATCH', `sha256=${digest(bytes, secret)}`, { body: bytes.toString() }],
)

const stripe = (version = 'v1', time = seconds, key: string | Buffer = secret) =>
  `t=${time},${version}=${digest(`${time}.${body}`, key)}`
const stripeKey = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const decodedKey = Buffer.from(stripeKey.slice(6), 'base64')
const ofStripe = { policy: { secret: stripeKey } }
trap(
  'stripe',
  'stripe-signature',
  'Stripe: the key is the whole secret, although it looks like base64',
  ['good', stripe('v1', seconds, stripeKey), ofStripe],
  ['SIGNATURE_MISMATCH', stripe('v1', seconds, decodedKey), ofStripe],
  'Stripe: only v1 counts, wherever it is among others',
  ['SIGNATURE_MALFORMED', stripe('v0')],
  ['good', `${stripe('v0')}, v1=${zeros} , v1=${digest(`${seconds}.${body}`, secret)}`],
  'Stripe: the time is checked in both directions, after the signature',
  ['good', stripe('v1', seconds - 300)],
  ['good', stripe('v1', seconds + 300)],
  ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 301)],
  ['SIGNATURE_MISMATCH', stripe('v1', seconds - 301), { body: `${body} ` }],
  // 300.9 s have passed, and 300 in the whole seconds that the sender counts.
  ['good', stripe('v1', seconds - 300), { now: now + 900 }],
  ['good', stripe('v1', seconds - 3600), { policy: { tolerance: '1h' } }],
  ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 11), { policy: { tolerance: '10s' } }],
)
test('a wrong time is reported with its distance', async () => {
  for (const skewSeconds of [-301, 3600]) {
    const headers = { 'stripe-signature': stripe('v1', seconds + skewSeconds) }
    const result = await verifyBy({ provider: 'stripe', secret }, { body, headers })
    assert.deepEqual(result, { ok: false, code: 'TIMESTAMP_OUTSIDE', skewSeconds })
  }
})

function slack(text: string, time: string | number = seconds): Sent['headers'] {
  const signature = `v0=${digest(`v0:${time}:${text}`, secret)}`
  return { 'x-slack-signature': signature, 'x-slack-request-timestamp': String(time) }
}
const noNumbers = ['soon', 'NaN', `${seconds}.0`, `+${seconds}`, '1e9', ` ${seconds}x`, '9'.repeat(400)]
const command = 'token=deprecated&command=%2Fdeploy&text=now+please'
trap(
  'slack',
  'x-slack-signature',
  'Slack: a time that is not a number is refused, although it is signed',
  ['TIMESTAMP_MISSING', slack(body, '')],
  ['TIMESTAMP_OUTSIDE', slack(body, seconds + 3600)],
  ...noNumbers.map((time): Row => ['TIMESTAMP_MALFORMED', slack(body, time)]),
  'Slack: a form is signed as it was encoded, and the token in the body proves nothing',
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
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const keyBytes = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const both = { policy: { publicKey: `whpk_${keyBytes.toString('base64')}` } }
const keyAlone = { policy: { ...both.policy, secret: undefined } }
const asymmetric = `v1a,${sign(null, Buffer.from(signed), privateKey).toString('base64')}`
const secrets = (...each: string[]) => each.map((secret) => ({ policy: { secret } }))
testRows(
  { provider: 'standard-webhooks', secret: whsec },
  { body },
  'Standard Webhooks: spaces divide signatures, and the id is signed with the rest',
  ['good', standard(`v2,x v1,bad v1a,AAAA ${good}`)],
  ['SIGNATURE_MISMATCH', standard(good, 'webhook', 'msg_2')],
  ['SIGNATURE_MALFORMED', standard(good.replace('v1,', 'v2,'))],
  ['SIGNATURE_MALFORMED', standard(good, 'webhook', '')],
  'Standard Webhooks: a secret is base64, with or without its prefix and padding, and its text is not the key',
  ...secrets(whsec, whsec.slice(6), whsec.replace(/=+$/, '')).map((more): Row => ['good', standard(), more]),
  ['SIGNATURE_MISMATCH', standard(`v1,${base64(signed, whsec)}`)],
  'Standard Webhooks: with a secret and a key, either is enough, and a key alone accepts no digest',
  ['good', standard(), both],
  ['good', standard(asymmetric), both],
  ['good', standard(`${wrong} ${asymmetric}`), both],
  ['SIGNATURE_MISMATCH', standard(wrong), both],
  ['SIGNATURE_MALFORMED', standard(), keyAlone],
  // A public key is known to everyone, so a digest that is made with it proves nothing.
  ['SIGNATURE_MALFORMED', standard(`v1,${base64(signed, keyBytes)}`), keyAlone],
  'Svix, Resend and OpenAI sign by the same specification, and the first two use header names of their own as well',
  ...['svix', 'resend', 'openai'].map((provider): Row => ['good', standard(), { policy: { provider } }]),
  ...['svix', 'resend'].map((provider): Row => ['good', standard(good, 'svix'), { policy: { provider } }]),
  ['SIGNATURE_MISSING', standard(good, 'svix'), { policy: { provider: 'openai' } }],
  'an empty key is never accepted: a secret that decodes to no bytes matches no signature',
  ...secrets('whsec_', 'whsec_====', 'whsec_no base64 at all').map(
    (more): Row => ['SIGNATURE_MISMATCH', standard(`v1,${base64(signed, '')}`), more],
  ),
)

trap(
  'shopify',
  'x-shopify-hmac-sha256',
  'Shopify: escaped slashes and long numbers are signed verbatim, under either name of the header',
  ['good', base64(body)],
  ['good', { 'shopify-hmac-sha256': base64(body) }],
  ['SIGNATURE_MISMATCH', base64(body), rewritten],
)

const token = { 'x-gitlab-token': secret }
const rotated = { policy: { secret: [whsec, secret] } }
trap(
  'gitlab',
  'x-gitlab-token',
  'GitLab: the form of the secret shows its kind, and a signing token is never accepted as a plain token',
  ['good', token],
  ['good', standard(), { policy: { secret: whsec } }],
  ['SIGNATURE_WEAKER', token, { policy: { secret: whsec } }],
  ['SIGNATURE_WEAKER', whsec, { policy: { secret: whsec } }],
  'GitLab: with secrets of both forms, a signature that is present has to be right',
  ['good', { ...standard(), ...token }, rotated],
  ['SIGNATURE_MISMATCH', { ...standard(wrong), ...token }, rotated],
  ['good', token, rotated],
)
test('the scheme that matched is reported, and which of the secrets', async () => {
  const result = await verifyBy({ provider: 'gitlab', ...rotated.policy }, { body, headers: token })
  assert.deepEqual(result, { ok: true, scheme: 'token', secret: 1 })
})

const linear = (expected: string, body: string, header = now): Row => [
  expected,
  { 'linear-signature': digest(body, secret), 'linear-timestamp': String(header) },
  { body },
]
const at = (time: unknown) => `{"action":"create","webhookTimestamp":${JSON.stringify(time)}}`
trap(
  'linear',
  'linear-signature',
  'Linear: the time in the signed body counts, and not the one in a header',
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
  'sentry',
  'sentry-hook-signature',
  'Sentry: the secret is a text although it looks like hex, and a time that is not signed is not checked',
  ['good', sentry, { policy: { secret: hex } }],
  ['good', sentry, { policy: { secret: hex, tolerance: '1m' } }],
  'Sentry: the header of UI components counts only where it is configured',
  ['SIGNATURE_MISSING', ui],
  ['good', ui, { policy: { provider: 'hmac', hmac: { ...uiHmac, signed: '{body}', timestampUnit: 's' } } }],
)

const pager = digest(body, secret)
trap(
  'pagerduty',
  'x-pagerduty-signature',
  'PagerDuty: one of several signatures matches, whatever the spaces and the case',
  ['good', `v1=${zeros},v1=${pager}`],
  ['good', `v1=${zeros}, v1=${pager.toUpperCase()}`],
  ['good', `v2=x,v1=${pager}`],
  ['SIGNATURE_MALFORMED', `v2=${pager}`],
  'PagerDuty: of a long list only the beginning is read',
  ['good', `${`v1=${zeros},`.repeat(99)}v1=${pager}`],
  ['SIGNATURE_MISMATCH', `${`v1=${zeros},`.repeat(5000)}v1=${pager}`],
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
const withPort = 'https://hooks.example.com:443/hooks/twilio'
const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
const mailToken = 'f00d'
const mailSignature = digest(`${seconds}${mailToken}`, secret)
const mailgun = (expected: string, more: object, data = 'delivered'): Row => {
  const signature = { timestamp: String(seconds), token: mailToken, signature: mailSignature, ...more }
  return [expected, {}, { body: JSON.stringify({ signature, 'event-data': { data } }) }]
}
const packed = { 'content-encoding': 'br' }
testRows(
  { provider: 'twilio', secret, publicUrl: twilioUrl },
  { target: '/hooks/twilio' },
  'Twilio: fields are decoded, sorted, and each distinct value is signed once, with SHA-1 alone',
  twilio('good', twilioUrl + twilioSigned),
  twilio('SIGNATURE_MISMATCH', `${twilioUrl}${fields}`),
  twilio('SIGNATURE_MISMATCH', twilioUrl + twilioSigned, { body: `${fields}&More=1` }),
  twilio('SIGNATURE_MALFORMED', '', { headers: { 'x-twilio-signature': base64(twilioUrl + twilioSigned) } }),
  'Twilio: the address is the configured one, with or without its port, whatever headers say',
  twilio('good', withPort + twilioSigned),
  twilio('good', twilioUrl + twilioSigned, { policy: { publicUrl: withPort } }),
  twilio('good', twilioUrl + twilioSigned, { policy: { publicUrl: `${twilioUrl}#rc=2` } }),
  twilio('good', `https://[::1]:443/in${twilioSigned}`, { policy: { publicUrl: 'https://[::1]/in' } }),
  twilio('good', `https://u:p@a.example/in${twilioSigned}`, {
    policy: { publicUrl: 'https://u:p@a.example:8443/in' },
  }),
  twilio('SIGNATURE_MISMATCH', `https://evil.example/hooks/twilio${twilioSigned}`, { headers: evil }),
  twilio('SIGNATURE_MISMATCH', `http://hooks.example.com/hooks/twilio${twilioSigned}`),
  'Twilio: JSON is covered by its digest in the query, or not at all',
  twilio('good', twilioUrl + query, covered),
  twilio('SIGNATURE_MISMATCH', twilioUrl + query, { ...covered, body: `${body} ` }),
  twilio('BODY_NOT_COVERED', twilioUrl, { ...json, body }),
  twilio('BODY_NOT_COVERED', twilioUrl, { headers: { 'content-type': undefined }, body }),
  // JSON that is labelled as a form is not covered as one.
  twilio('BODY_NOT_COVERED', `${twilioUrl}{"a":"b"}`, { body: '{"a":"b"}' }),
  'a compressed body is refused if the signed values are inside of it, because mappings would not see what was verified',
  ['BODY_NOT_COVERED', packed, { ...mailgun('', {})[2], policy: { provider: 'mailgun' } }],
  twilio('BODY_NOT_COVERED', twilioUrl + twilioSigned, { headers: packed }),
  twilio('good', twilioUrl + twilioSigned, { headers: { 'content-encoding': 'identity' } }),
  // The digest is of the bytes as they were sent.
  twilio('good', twilioUrl + query, { ...covered, headers: packed }),
)

const zoom = (time: number) => ({
  'x-zm-signature': `v0=${digest(`v0:${seconds}:${body}`, secret)}`,
  'x-zm-request-timestamp': String(time),
})
trap(
  'zoom',
  'authorization',
  'Zoom: the time is signed, and the former token proves nothing',
  ['good', zoom(seconds)],
  ['SIGNATURE_MISMATCH', zoom(seconds + 1)],
  ['SIGNATURE_MISSING', secret],
)

const paddleDigest = (time = seconds, joint = ':') => digest(`${time}${joint}${body}`, secret)
const paddle = (time: number, ...digests: string[]) =>
  [`ts=${time}`, ...digests.map((each) => `h1=${each}`)].join(';')
const late = paddle(seconds - 10, paddleDigest(seconds - 10))
trap(
  'paddle',
  'paddle-signature',
  'Paddle: semicolons divide elements, a colon joins the signed text, and any of several digests may match',
  ['good', paddle(seconds, paddleDigest(), zeros)],
  ['good', paddle(seconds, zeros, paddleDigest())],
  ['SIGNATURE_MISMATCH', paddle(seconds, paddleDigest(seconds, '.'))],
  'Paddle: the tolerance of five seconds can be raised',
  ['TIMESTAMP_OUTSIDE', late],
  ['good', late, { policy: { tolerance: '10s' } }],
)

const squareUrl = 'https://hooks.example.com/hooks/square?shop=1'
const squareSent = { policy: { publicUrl: squareUrl }, target: '/hooks/square?shop=1' }
const olderSquare = { 'x-square-signature': digest(squareUrl + body, secret, 'sha1', 'base64') }
trap(
  'square',
  'x-square-hmacsha256-signature',
  'Square: the address is signed byte for byte, and the older header never counts',
  ['good', base64(squareUrl + body), squareSent],
  ['SIGNATURE_MISMATCH', base64(squareUrl + body), { ...squareSent, target: '/hooks/square?shop=2' }],
  ['SIGNATURE_MISMATCH', base64(body), squareSent],
  ['SIGNATURE_WEAKER', olderSquare, squareSent],
  'an address of scheme and host alone gets the path as it was received, and any other keeps its own',
  ...['https://a.example:8443', 'https://a.example:8443?x', 'https://a.example:8443#x'].map(
    (publicUrl): ShortRow => [
      'good',
      base64(`https://a.example:8443/x?a=%2f&&b=+${body}`),
      { policy: { publicUrl }, target: '/x?a=%2f&&b=+' },
    ],
  ),
  [
    'good',
    base64(`https://a.example/?${body}`),
    { policy: { publicUrl: 'https://a.example/?own=1#rc=2' }, target: '/hooks/x?' },
  ],
)
test('without the configured address, a signature that covers it is refused, and the reason names the missing setting', async () => {
  const headers = { 'x-square-hmacsha256-signature': base64(body), host: 'a.example' }
  const result = await verifyBy({ provider: 'square', secret }, { body, headers })
  assert.match((!result.ok && result.reason) || '', /verify\.publicUrl/)
})

const hubspotUrl = 'https://hooks.example.com/hooks/hubspot'
const hubspotPolicy = { publicUrl: hubspotUrl }
const listed = '%3A%2f%3F%40%21%24%27%28%29%2A%2C%3B'
const hubspotTarget = '/hooks/hubspot?to=a%40b&path=%2fx&q=a%20b'
const older = { 'x-hubspot-signature': hash('sha256', secret + body), 'x-hubspot-signature-version': 'v1' }
function hubspot(expected: string, url: string, time = now, target = '/hooks/hubspot', method = 'POST'): Row {
  const signature = base64(`${method}${url}${body}${time}`)
  const headers = { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': String(time) }
  return [expected, headers, { policy: hubspotPolicy, target }]
}
trap(
  'hubspot',
  'x-hubspot-signature-v3',
  'HubSpot: the time is in milliseconds, some escapes are decoded or none, and no older version is accepted',
  hubspot('good', `${hubspotUrl}?to=a@b&path=/x&q=a%20b`, now, hubspotTarget),
  hubspot('good', `${hubspotUrl}?:/?@!$'()*,;%20%2B%26%25`, now, `/hooks/hubspot?${listed}%20%2B%26%25`),
  hubspot('good', `${hubspotUrl}?to=a%40b&path=%2fx&q=a%20b`, now, hubspotTarget),
  hubspot('good', hubspotUrl, now - 300_000),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, now - 300_001),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, now + 3_600_000),
  hubspot('TIMESTAMP_OUTSIDE', hubspotUrl, seconds),
  hubspot('SIGNATURE_MISMATCH', hubspotUrl, now, '/hooks/hubspot', 'GET'),
  ['SIGNATURE_WEAKER', older, { policy: hubspotPolicy }],
)

const inbound = `timestamp=${seconds}&token=${mailToken}&signature=${mailSignature}&subject=%C3%A4+b`
trap(
  'mailgun',
  '',
  'Mailgun: the signature is in the body, JSON or form, and covers time and token alone',
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

const payload = 'x=1&payload={"evil":true}&y='
// The body may quote, for example, a comment that an unauthenticated client wrote.
const genuine = { body: `{"comment":"hi.${seconds}.${payload}"}` }
const sealed = (id: string) => `v1,${base64(`${id}.${seconds}.${genuine.body}`, raw)}`
const absorbing = standard(sealed('msg_1'), 'svix', `msg_1.${seconds}.{"comment":"hi`)
testRows(
  { provider: 'svix', secret: whsec },
  genuine,
  'an id cannot absorb the time and the beginning of the body, and ids may contain dots',
  ['good', standard(sealed('msg_1'), 'svix')],
  ['SIGNATURE_MALFORMED', absorbing, { body: `${payload}"}` }],
  ['good', standard(sealed('a.b.1'), 'svix', 'a.b.1')],
)

const docuSignKey = 'ibFTzDfPXJ2EuqNHj31C155COVwaB1UZy0FsF4Rw7mE='
const xml = '<?xml version="1.0"?><DocuSignEnvelopeInformation/>'
const wrongFirst = { 'x-docusign-signature-1': base64(xml, 'other') }
const numbered = (number: number) => ({ [`x-docusign-signature-${number}`]: base64(xml, docuSignKey) })
testRows(
  { provider: 'docusign', secret: docuSignKey },
  { body: xml },
  'DocuSign: every numbered header counts, for XML as for JSON, and the key is a text',
  ...[2, 17, 100].map((number): Row => ['good', { ...wrongFirst, ...numbered(number) }]),
  ['SIGNATURE_MISMATCH', { 'x-docusign-signature-1': base64(xml, Buffer.from(docuSignKey, 'base64')) }],
  ['SIGNATURE_MISSING', { 'x-authorization-digest': 'HMACSHA256' }],
)

const verifyToken = { policy: { verifyToken: 'shown in a query' } }
trap(
  'meta',
  'x-hub-signature-256',
  'Meta: escapes are signed verbatim, with the secret of the app and never with the verify token',
  ['good', sha256, verifyToken],
  ['SIGNATURE_MISMATCH', sha256, rewritten],
  ['SIGNATURE_MISMATCH', `sha256=${digest(body, 'shown in a query')}`, verifyToken],
  ['SIGNATURE_WEAKER', { 'x-hub-signature': sha1 }],
)
trap(
  'telegram',
  'x-telegram-bot-api-secret-token',
  'Telegram: the secret is compared as a whole',
  ['good', secret],
  ...[secret.slice(1), `${secret}x`, secret.toUpperCase()].map(
    (each): ShortRow => ['SIGNATURE_MISMATCH', each],
  ),
)

/** What each sender signs with and refuses, of those whose signature has no more to it. */
for (const [provider, header, title, ...rows] of [
  ['intercom', 'x-hub-signature', 'SHA-1 alone', ['good', sha1], ['SIGNATURE_MALFORMED', sha256]],
  ['bitbucket', 'x-hub-signature', 'no weaker hash', ['good', sha256], ['SIGNATURE_MALFORMED', sha1]],
  ['jira', 'x-hub-signature', 'no weaker hash', ['good', sha256], ['SIGNATURE_MALFORMED', sha1]],
  ['jira', 'x-hub-signature-256', 'another header', ['SIGNATURE_MISSING', sha256]],
  [
    'typeform',
    'typeform-signature',
    'base64',
    ['good', `sha256=${base64(body)}`],
    ['SIGNATURE_MALFORMED', sha256],
  ],
  ['calendly', 'calendly-webhook-signature', 'three minutes', ['good', stripe('v1', seconds - 180)]],
  ['calendly', 'calendly-webhook-signature', 'no more', ['TIMESTAMP_OUTSIDE', stripe('v1', seconds - 181)]],
  ['elevenlabs', 'elevenlabs-signature', 'half an hour', ['good', stripe('v0', seconds - 1800)]],
  ['elevenlabs', 'elevenlabs-signature', 'no more', ['TIMESTAMP_OUTSIDE', stripe('v0', seconds - 1801)]],
  ['vercel', 'x-vercel-signature', 'SHA-1', ['good', sha1.slice(5)]],
  ['notion', 'x-notion-signature', 'SHA-256', ['good', sha256]],
  ['grafana', 'x-grafana-alerting-signature', 'SHA-256', ['good', sha256.slice(7)]],
] as [string, string, string, ...[string, string][]][])
  trap(provider, header, `${provider} signs as its guide describes: ${title}`, ...rows)

test('a good request of every provider is verified, with a signature that is made without our code', () => {
  // These have tests of their own in `families`, and the last three sign nothing.
  const elsewhere = 'aws-sns discord google-pubsub sendgrid cloudevents microsoft-graph monday'.split(' ')
  const names = providerRows.map(({ name }) => name)
  const found = names.filter((name) => !proven.has(name) && !elsewhere.includes(name))
  assert.deepEqual(found, [])
})
