import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { parse } from 'yaml'
import { testBlocks } from '../../config/blocks-fixture.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { HandshakeKind } from '../../providers/scheme.ts'
import type { Handshake, HandshakeRequest } from './handshake.ts'
import { createHandshakes } from './provider-handshakes.ts'

const post: HandshakeRequest = {
  method: 'POST',
  headers: {},
  query: {},
  payload: undefined,
  isTrusted: false,
}
const trusted = { isTrusted: true }

const ask = (handshake: HandshakeKind, policy: VerifyPolicy, request: Partial<HandshakeRequest>) =>
  createHandshakes({ handshake }, policy)?.answer({ ...post, ...request })

/** The status, the type of the body and the body; `nothing` where there is no answer. */
function lineOf(answer: Handshake | undefined): string {
  if (answer === undefined) return 'nothing'
  const { status, contentType = '', body, confirm } = answer
  const [, type] = /^\w+\/(\w+)/.exec(contentType) ?? []
  return [status, type, body, confirm && `confirms ${confirm}`].filter(Boolean).join(' ')
}

const topic = 'arn:aws:sns:eu-central-1:123456789012:alerts'
const attacker = 'arn:aws:sns:eu-central-1:999999999999:attacker'
const at = (host: string) => `https://${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=abc`
const subscribeUrl = at('sns.eu-central-1.amazonaws.com')
const inChina = at('sns.cn-north-1.amazonaws.com.cn')
const sns = `{ topicArns: ['arn:aws:sns:eu-central-1:123456789012:other', '${topic}'] }`
const subscription = { Type: 'SubscriptionConfirmation', TopicArn: topic, SubscribeURL: subscribeUrl }
const encryptedToken = createHmac('sha256', 'new').update('PELZ_r-1').digest('hex')
const markup = '<script>alert(1)</script> & more'

/** The provider, its policy, the request, and behind the arrow the answer. An authenticated sender is marked with `+`. */
const cases = `
# Slack gets its challenge back
slack {} + { payload: { type: url_verification, challenge: abc, token: deprecated } } → 200 json {"challenge":"abc"}
slack { secret: s } { payload: { type: url_verification, challenge: abc } } → nothing

# Zoom gets proof that the newest secret is known, and no answer that could be used to sign a request
zoom { secret: ['', new, old] } + { payload: { event: endpoint.url_validation, payload: { plainToken: PELZ_r-1 } } } → 200 json {"plainToken":"PELZ_r-1","encryptedToken":"${encryptedToken}"}
zoom { secret: s } { payload: { event: endpoint.url_validation, payload: { plainToken: p } } } ¦ zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: 'v0:1700000000:{"event":"meeting.started"}' } } } → nothing
zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: 'a b' } } } ¦ zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: '' } } } → nothing
zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: ${'a'.repeat(257)} } } } → nothing
zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: 7 } } } ¦ zoom { secret: s } + { payload: { event: endpoint.url_validation, payload: { plainToken: null } } } → nothing
zoom {} + { payload: { event: endpoint.url_validation, payload: { plainToken: p } } } ¦ zoom { secret: '' } + { payload: { event: endpoint.url_validation, payload: { plainToken: p } } } ¦ zoom { secret: [''] } + { payload: { event: endpoint.url_validation, payload: { plainToken: p } } } → nothing

# Meta gets its challenge back if it shows the verify token, and is refused otherwise; other requests are no handshake
meta { verifyToken: a } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: a } } → 200 plain 1158
meta { verifyToken: a } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: nope } } → 403
meta { verifyToken: a } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: '' } } ¦ meta { verifyToken: a } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158' } } → 403
meta { verifyToken: a } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: [a, a] } } → 403
meta {} { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: '' } } ¦ meta { verifyToken: '' } { method: GET, query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: '' } } → nothing
meta { verifyToken: a } { query: { hub.mode: subscribe, hub.challenge: '1158', hub.verify_token: a } } ¦ meta { verifyToken: a } { method: GET, query: {} } → nothing

# Discord's two PINGs have an answer each, and an event is neither
discord {} + { payload: { id: '1', type: 1, token: t, version: 1 } } → 200 json {"type":1}
discord {} { payload: { id: '1', type: 1 } } → nothing
discord {} + { payload: { version: 1, type: 0 } } → 204
discord {} { payload: { version: 1, type: 0 } } ¦ discord {} + { payload: { version: 1, type: 1, event: { type: APPLICATION_AUTHORIZED } } } ¦ discord {} + { payload: { type: 2, id: '1' } } → nothing

# a subscription to a configured topic is confirmed at SNS itself, its end is acknowledged, and another topic is refused
aws-sns ${sns} + { payload: { Type: SubscriptionConfirmation, TopicArn: '${topic}', SubscribeURL: '${subscribeUrl}' } } → 200 confirms ${subscribeUrl}
aws-sns ${sns} + { payload: { Type: SubscriptionConfirmation, TopicArn: '${topic}', SubscribeURL: '${inChina}' } } → 200 confirms ${inChina}
aws-sns ${sns} { payload: { Type: SubscriptionConfirmation, TopicArn: '${topic}', SubscribeURL: '${subscribeUrl}' } } → nothing
aws-sns ${sns} + { payload: { Type: UnsubscribeConfirmation, TopicArn: '${topic}', SubscribeURL: '${subscribeUrl}' } } → 200
aws-sns ${sns} { payload: { Type: UnsubscribeConfirmation, TopicArn: '${topic}', SubscribeURL: '${subscribeUrl}' } } → nothing
aws-sns ${sns} + { payload: { Type: Notification, TopicArn: '${topic}' } } → nothing
aws-sns ${sns} + { payload: { Type: SubscriptionConfirmation, TopicArn: '${attacker}', SubscribeURL: '${subscribeUrl.replace(topic, attacker)}' } } → 403
aws-sns {} + { payload: { Type: SubscriptionConfirmation, TopicArn: '${attacker}', SubscribeURL: '${subscribeUrl.replace(topic, attacker)}' } } → 403

# Intercom may check the address with HEAD, and its ping is not an event
intercom {} { method: HEAD } ¦ intercom {} + { payload: { topic: ping } } → 200
intercom { secret: s } { payload: { topic: ping } } ¦ intercom {} + { payload: { topic: user.created } } → nothing

# monday.com gets back a challenge that is the only field
monday {} { payload: { challenge: abc } } → 200 json {"challenge":"abc"}
monday {} { payload: { challenge: abc, event: {} } } ¦ monday {} { payload: { event: {} } } ¦ monday {} { payload: [challenge] } ¦ monday {} { payload: challenge } ¦ monday {} { payload: null } → nothing

# a body with a secret of Notion is never an event
notion { secret: known } + { payload: { verification_token: secret_0123456789 } } ¦ notion {} + { payload: { verification_token: secret_0123456789, type: page.created } } ¦ notion { secret: known } + { payload: { verification_token: secret_0123456789, type: page.created } } → 200
notion { secret: known } { payload: { verification_token: secret_0123456789, type: page.created } } ¦ notion { secret: known } + { payload: { type: page.created } } → nothing
notion { secret: '' } { payload: { verification_token: secret_0123456789 } } → 200
notion { secret: ['', known] } { payload: { verification_token: secret_0123456789 } } ¦ notion {} { payload: { verification_token: short } } ¦ notion {} { payload: { verification_token: "two lines\\nof it" } } → nothing
notion {} { payload: { verification_token: ${'a'.repeat(257)} } } → nothing
notion {} { payload: { verification_token: "a\\e[2Jbcdefgh" } } ¦ notion {} { payload: { verification_token: 7 } } ¦ notion {} { payload: { verification_token: secret_0123456789, type: page.created } } → nothing

# Microsoft Graph gets its token back as plain text, whatever it contains
microsoft-graph {} { query: { validationToken: '${markup}' } } → 200 plain ${markup}
microsoft-graph {} { query: {} } ¦ microsoft-graph {} { query: { validationToken: [a, b] } } ¦ microsoft-graph {} { query: { validationToken: a }, method: GET } → nothing

# CloudEvents: only a listed sender gets an answer that lets it send
cloudevents { allowedOrigins: [e.example.com, ''] } { method: OPTIONS, headers: { webhook-request-origin: other.example.com, webhook-request-callback: 'https://x.example' } } → 403
cloudevents { allowedOrigins: [e.example.com, ''] } { method: OPTIONS, headers: {} } ¦ cloudevents { allowedOrigins: [e.example.com, ''] } { method: OPTIONS, headers: { webhook-request-origin: '' } } ¦ cloudevents {} { method: OPTIONS, headers: { webhook-request-origin: e.example.com } } → nothing
`

testBlocks(cases, (row) => {
  const [, kind, policy = '', sender, request = '', expected] =
    /^(\S+) (\{.*?\}) (\+ )?(\{.*\}) → (.*)$/.exec(row) ?? []
  const asked = { ...parse(request), ...(sender && trusted) }
  assert.equal(lineOf(ask(kind as HandshakeKind, parse(policy), asked)), expected, row)
})

test('nothing is fetched that is not the confirmation of a configured topic at SNS itself', () => {
  const sns = 'sns.eu-central-1.amazonaws.com'
  const hosts =
    `attacker.example ${sns}.evil.example evil.example/${sns} ${sns}@evil.example user:pass@${sns} ${sns}:8443
    sns.eu.central.1.amazonaws.com x${sns} ${sns}\\@evil.example ${sns}/other`.split(/\s+/)
  const actions = [
    ['https', 'http'],
    ['ConfirmSubscription', 'Unsubscribe'],
    ['alerts', 'other'],
  ] as const
  const hostile = [
    ...[...hosts.map(at), ...actions.map(([part, other]) => subscribeUrl.replace(part, other))],
    ...[` ${subscribeUrl}`, `${subscribeUrl}#fragment`, `${subscribeUrl}&TopicArn=${attacker}`],
    ...[subscribeUrl + 'a'.repeat(5000), ['https://sns.eu-central-1.amazonaws.com/'], undefined],
  ]
  for (const SubscribeURL of hostile) {
    const payload = { ...subscription, SubscribeURL }
    assert.equal(
      lineOf(ask('aws-sns', { topicArns: [topic] }, { payload, ...trusted })),
      '403',
      String(SubscribeURL),
    )
  }
})

test('which methods are a handshake, and which handshakes need no signature', () => {
  assert.deepEqual(createHandshakes({ handshake: 'intercom' }, {})?.methods, ['HEAD'])
  assert.equal(createHandshakes({ handshake: 'monday' }, {})?.unsigned, true)
  assert.equal(createHandshakes({ handshake: 'cloudevents' }, {}), undefined)
})

test("Notion's secret is stored for the operator until a secret is configured, and is not shown", () => {
  const value = 'secret_0123456789'
  const answer = ask('notion', { secret: '' }, { payload: { verification_token: value } })
  assert.deepEqual(answer?.issuedSecret, { name: 'verification-token', value })
  assert.ok(!`${answer?.reason}${answer?.body}`.includes(value))
  for (const policy of [{ secret: 'known' }, {}]) {
    const payload = {
      verification_token: value,
      ...(policy.secret === undefined && { type: 'page.created' }),
    }
    assert.equal(ask('notion', policy, { payload, ...trusted })?.issuedSecret, undefined)
  }
})

test('a sender that may send CloudEvents gets the permission and the rate, and text is not sniffed', () => {
  const answerTo = (rate: string) => {
    const headers = { 'webhook-request-origin': 'E.example.com', 'webhook-request-rate': rate }
    return ask('cloudevents', { allowedOrigins: ['e.example.com', ''] }, { method: 'OPTIONS', headers })
  }
  const { status, headers } = answerTo('120') ?? {}
  const allowed = [headers?.['webhook-allowed-origin'], headers?.['webhook-allowed-rate']]
  assert.deepEqual([status, ...allowed], [200, 'e.example.com', '120'])
  assert.equal(answerTo('as fast as it goes')?.headers?.['webhook-allowed-rate'], undefined)
  const plain = ask('microsoft-graph', {}, { query: { validationToken: markup } })
  assert.equal(plain?.headers?.['x-content-type-options'], 'nosniff')
})

test('no more than four thousand characters are echoed', () => {
  const subscribe = { 'hub.mode': 'subscribe', 'hub.verify_token': 'a' }
  for (const length of [4096, 4097]) {
    const text = 'a'.repeat(length)
    for (const answer of [
      ask('slack', {}, { payload: { type: 'url_verification', challenge: text }, ...trusted }),
      ask('monday', {}, { payload: { challenge: text } }),
      ask('microsoft-graph', {}, { query: { validationToken: text } }),
      ask('meta', { verifyToken: 'a' }, { method: 'GET', query: { ...subscribe, 'hub.challenge': text } }),
    ])
      assert.equal(answer?.status, length === 4096 ? 200 : undefined)
  }
})

test('a property that a payload inherits is not one of its fields', () => {
  const payload = Object.create({ type: 'url_verification', challenge: 'c', topic: 'ping', Type: 'x' })
  for (const kind of ['slack', 'intercom', 'discord', 'aws-sns'] as const)
    assert.equal(ask(kind, parse(sns), { payload, ...trusted }), undefined)
})
