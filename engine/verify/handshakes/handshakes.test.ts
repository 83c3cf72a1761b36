import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
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

function ask(
  handshake: HandshakeKind,
  policy: VerifyPolicy,
  request: Partial<HandshakeRequest>,
): Handshake | undefined {
  return createHandshakes({ handshake }, policy)?.answer({ ...post, ...request })
}

function assertJson(answer: Handshake | undefined, expected: object): void {
  assert.equal(answer?.status, 200)
  assert.match(answer.contentType ?? '', /^application\/json/)
  assert.deepEqual(JSON.parse(answer.body), expected)
}

function assertPlain(answer: Handshake | undefined, expected: string): void {
  assert.equal(answer?.status, 200)
  assert.match(answer.contentType ?? '', /^text\/plain/)
  assert.equal(answer.headers?.['x-content-type-options'], 'nosniff')
  assert.equal(answer.body, expected)
}

const topic = 'arn:aws:sns:eu-central-1:123456789012:alerts'
const subscribeUrl = `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=abc`
const subscription = { Type: 'SubscriptionConfirmation', TopicArn: topic, SubscribeURL: subscribeUrl }
const sns: VerifyPolicy = { topicArns: ['arn:aws:sns:eu-central-1:123456789012:other', topic] }

test('a handshake that needs authentication is answered only to an authenticated sender', () => {
  const asked: [HandshakeKind, VerifyPolicy, unknown][] = [
    ['slack', { secret: 's' }, { type: 'url_verification', challenge: 'c' }],
    ['zoom', { secret: 's' }, { event: 'endpoint.url_validation', payload: { plainToken: 'p' } }],
    ['discord', {}, { type: 1, id: '1' }],
    ['discord', {}, { type: 0, version: 1 }],
    ['aws-sns', sns, subscription],
    ['aws-sns', sns, { ...subscription, Type: 'UnsubscribeConfirmation' }],
    ['intercom', { secret: 's' }, { topic: 'ping' }],
  ]
  for (const [kind, policy, payload] of asked) {
    assert.equal(ask(kind, policy, { payload }), undefined, kind)
    assert.notEqual(ask(kind, policy, { payload, isTrusted: true }), undefined, kind)
  }
})

test('Slack gets its challenge back', () => {
  const payload = { type: 'url_verification', challenge: 'abc', token: 'deprecated' }
  assertJson(ask('slack', {}, { payload, isTrusted: true }), { challenge: 'abc' })
})

test('Zoom gets proof that the newest secret is known', () => {
  const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'PELZ_r-1' } }
  const answer = ask('zoom', { secret: ['', 'new', 'old'] }, { payload, isTrusted: true })
  const encryptedToken = createHmac('sha256', 'new').update('PELZ_r-1').digest('hex')
  assertJson(answer, { plainToken: 'PELZ_r-1', encryptedToken })
})

test('an answer to Zoom cannot be used to sign a request, and without a secret there is none', () => {
  const validation = (plainToken: unknown) => ({ event: 'endpoint.url_validation', payload: { plainToken } })
  for (const hostile of ['v0:1700000000:{"event":"meeting.started"}', 'a b', '', 'a'.repeat(257), 7, null])
    assert.equal(ask('zoom', { secret: 's' }, { payload: validation(hostile), isTrusted: true }), undefined)
  for (const secret of [undefined, '', ['']])
    assert.equal(ask('zoom', { secret }, { payload: validation('p'), isTrusted: true }), undefined)
})

const subscribe = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444', 'hub.verify_token': 'verify-a' }

test('Meta gets its challenge back if it shows the verify token, and is refused otherwise', () => {
  const policy = { verifyToken: 'verify-a' }
  assertPlain(ask('meta', policy, { method: 'GET', query: subscribe }), '1158201444')
  for (const shown of ['nope', '', undefined, ['verify-a', 'verify-a']]) {
    const query = { ...subscribe, 'hub.verify_token': shown }
    const answer = ask('meta', policy, { method: 'GET', query })
    assert.equal(answer?.status, 403)
    assert.equal(answer.body, '')
  }
})

test('without a verify token Meta has no handshake, so that an empty token is not accepted', () => {
  const query = { ...subscribe, 'hub.verify_token': '' }
  for (const verifyToken of [undefined, ''])
    assert.equal(ask('meta', { verifyToken }, { method: 'GET', query }), undefined)
})

test("only Meta's own handshake is answered", () => {
  const policy = { verifyToken: 'verify-a' }
  assert.equal(ask('meta', policy, { method: 'POST', query: subscribe }), undefined)
  assert.equal(ask('meta', policy, { method: 'GET', query: {} }), undefined)
})

test("Discord's two PINGs have an answer each, and an event is neither", () => {
  const interaction = { id: '1', type: 1, token: 't', version: 1 }
  assertJson(ask('discord', {}, { payload: interaction, isTrusted: true }), { type: 1 })
  const ping = ask('discord', {}, { payload: { version: 1, type: 0 }, isTrusted: true })
  assert.deepEqual([ping?.status, ping?.body], [204, ''])
  const event = { version: 1, type: 1, event: { type: 'APPLICATION_AUTHORIZED' } }
  assert.equal(ask('discord', {}, { payload: event, isTrusted: true }), undefined)
  assert.equal(ask('discord', {}, { payload: { type: 2, id: '1' }, isTrusted: true }), undefined)
})

test('a subscription to a configured topic is confirmed at SNS itself', () => {
  const answer = ask('aws-sns', sns, { payload: subscription, isTrusted: true })
  assert.deepEqual([answer?.status, answer?.confirm], [200, subscribeUrl])
  const china = subscribeUrl.replace('.com', '.com.cn')
  const inChina = ask('aws-sns', sns, { payload: { ...subscription, SubscribeURL: china }, isTrusted: true })
  assert.equal(inChina?.confirm, china)
})

test('nothing is fetched that is not the confirmation of a configured topic at SNS itself', () => {
  const query = subscribeUrl.slice(subscribeUrl.indexOf('?'))
  const hostile = [
    `https://attacker.example/${query}`,
    `https://sns.eu-central-1.amazonaws.com.evil.example/${query}`,
    `https://evil.example/sns.eu-central-1.amazonaws.com/${query}`,
    `https://sns.eu-central-1.amazonaws.com@evil.example/${query}`,
    `https://user:pass@sns.eu-central-1.amazonaws.com/${query}`,
    `https://sns.eu-central-1.amazonaws.com:8443/${query}`,
    `http://sns.eu-central-1.amazonaws.com/${query}`,
    `https://sns.eu.central.1.amazonaws.com/${query}`,
    `https://xsns.eu-central-1.amazonaws.com/${query}`,
    `https://sns.eu-central-1.amazonaws.com\\@evil.example/${query}`,
    `https://sns.eu-central-1.amazonaws.com/other${query}`,
    ` ${subscribeUrl}`,
    `${subscribeUrl}#fragment`,
    `${subscribeUrl}&TopicArn=arn:aws:sns:eu-central-1:999999999999:attacker`,
    subscribeUrl.replace('ConfirmSubscription', 'Unsubscribe'),
    subscribeUrl.replace('alerts', 'other'),
    subscribeUrl + 'a'.repeat(5000),
    ['https://sns.eu-central-1.amazonaws.com/'],
    undefined,
  ]
  for (const SubscribeURL of hostile) {
    const answer = ask('aws-sns', sns, { payload: { ...subscription, SubscribeURL }, isTrusted: true })
    assert.deepEqual([answer?.status, answer?.confirm], [403, undefined], String(SubscribeURL))
  }
})

test('a subscription to another topic is not confirmed, though its address is one of SNS', () => {
  const other = 'arn:aws:sns:eu-central-1:999999999999:attacker'
  const payload = { ...subscription, TopicArn: other, SubscribeURL: subscribeUrl.replace(topic, other) }
  for (const policy of [sns, {}]) {
    const answer = ask('aws-sns', policy, { payload, isTrusted: true })
    assert.deepEqual([answer?.status, answer?.confirm], [403, undefined])
  }
})

test('the end of a subscription to SNS is acknowledged, and the subscription is not renewed', () => {
  const payload = { ...subscription, Type: 'UnsubscribeConfirmation' }
  const answer = ask('aws-sns', sns, { payload, isTrusted: true })
  assert.deepEqual([answer?.status, answer?.confirm], [200, undefined])
  const notification = { Type: 'Notification', TopicArn: topic }
  assert.equal(ask('aws-sns', sns, { payload: notification, isTrusted: true }), undefined)
})

test('Intercom may check the address with HEAD, and its ping is not an event', () => {
  assert.deepEqual(createHandshakes({ handshake: 'intercom' }, {})?.methods, ['HEAD'])
  assert.equal(ask('intercom', {}, { method: 'HEAD' })?.status, 200)
  assert.equal(ask('intercom', {}, { payload: { topic: 'ping' }, isTrusted: true })?.status, 200)
  assert.equal(ask('intercom', {}, { payload: { topic: 'user.created' }, isTrusted: true }), undefined)
})

test('monday.com gets back a challenge that is the only field', () => {
  assert.equal(createHandshakes({ handshake: 'monday' }, {})?.unsigned, true)
  assertJson(ask('monday', {}, { payload: { challenge: 'abc' } }), { challenge: 'abc' })
  for (const payload of [{ challenge: 'abc', event: {} }, { event: {} }, ['challenge'], 'challenge', null])
    assert.equal(ask('monday', {}, { payload }), undefined)
})

test('a body with a secret of Notion is never an event', () => {
  const token = 'secret_0123456789'
  const secret = 'known'
  const shown = { payload: { verification_token: token }, isTrusted: true }
  const answer = ask('notion', { secret }, shown)
  assert.deepEqual([answer?.status, answer?.body, answer?.entrusted], [200, '', undefined])
  const more = { ...shown, payload: { verification_token: token, type: 'page.created' } }
  assert.deepEqual([ask('notion', {}, more)?.status, ask('notion', { secret }, more)?.status], [200, 200])
  assert.equal(ask('notion', {}, more)?.entrusted, undefined)
  assert.equal(ask('notion', { secret }, { ...shown, isTrusted: false }), undefined)
  assert.equal(ask('notion', { secret }, { payload: { type: 'page.created' }, isTrusted: true }), undefined)
})

test("Notion's secret is stored for the operator until a secret is configured", () => {
  const token = 'secret_0123456789'
  const answer = ask('notion', { secret: '' }, { payload: { verification_token: token } })
  assert.equal(answer?.status, 200)
  assert.deepEqual(answer.entrusted, { name: 'verification-token', value: token })
  assert.ok(!`${answer.reason}${answer.body}`.includes(token))
  const secret = ['', 'known']
  assert.equal(ask('notion', { secret }, { payload: { verification_token: token } }), undefined)
  for (const hostile of ['short', 'two lines\nof it', 'a'.repeat(257), 'a\u001b[2Jbcdefgh', 7])
    assert.equal(ask('notion', {}, { payload: { verification_token: hostile } }), undefined)
  const more = { verification_token: token, type: 'page.created' }
  assert.equal(ask('notion', {}, { payload: more }), undefined)
})

test('Microsoft Graph gets its token back as plain text, whatever it contains', () => {
  const markup = '<script>alert(1)</script> & more'
  assertPlain(ask('microsoft-graph', {}, { query: { validationToken: markup } }), markup)
  assert.equal(ask('microsoft-graph', {}, { query: {} }), undefined)
  assert.equal(ask('microsoft-graph', {}, { query: { validationToken: ['a', 'b'] } }), undefined)
  assert.equal(ask('microsoft-graph', {}, { query: { validationToken: 'a' }, method: 'GET' }), undefined)
})

test('a sender that may send CloudEvents gets the permission and the rate', () => {
  const policy = { allowedOrigins: ['eventemitter.example.com', ''] }
  const headers = { 'webhook-request-origin': 'EventEmitter.example.com', 'webhook-request-rate': '120' }
  const answer = ask('cloudevents', policy, { method: 'OPTIONS', headers })
  assert.equal(answer?.status, 200)
  assert.equal(answer.headers?.['webhook-allowed-origin'], 'eventemitter.example.com')
  assert.equal(answer.headers?.['webhook-allowed-rate'], '120')
  const odd = { ...headers, 'webhook-request-rate': 'as fast as it goes' }
  const slow = ask('cloudevents', policy, { method: 'OPTIONS', headers: odd })
  assert.equal(slow?.headers?.['webhook-allowed-rate'], undefined)
})

test('a sender of CloudEvents that is not listed gets no header that would let it send', () => {
  const headers = {
    'webhook-request-origin': 'other.example.com',
    'webhook-request-callback': 'https://x.example',
  }
  const policy = { allowedOrigins: ['eventemitter.example.com', ''] }
  const answer = ask('cloudevents', policy, { method: 'OPTIONS', headers })
  assert.deepEqual([answer?.status, answer?.headers, answer?.confirm], [403, undefined, undefined])
  assert.equal(createHandshakes({ handshake: 'cloudevents' }, {}), undefined)
  for (const silent of [{}, { 'webhook-request-origin': '' }])
    assert.equal(ask('cloudevents', policy, { method: 'OPTIONS', headers: silent }), undefined)
})

test('no more than four thousand characters are echoed', () => {
  const [most, more] = ['a'.repeat(4096), 'a'.repeat(4097)]
  const echoes = (text: string): (Handshake | undefined)[] => [
    ask('slack', {}, { payload: { type: 'url_verification', challenge: text }, isTrusted: true }),
    ask('monday', {}, { payload: { challenge: text } }),
    ask('microsoft-graph', {}, { query: { validationToken: text } }),
    ask(
      'meta',
      { verifyToken: 'verify-a' },
      { method: 'GET', query: { ...subscribe, 'hub.challenge': text } },
    ),
  ]
  for (const answer of echoes(most)) assert.equal(answer?.status, 200)
  for (const answer of echoes(more)) assert.equal(answer, undefined)
})

test('a property that a payload inherits is not one of its fields', () => {
  const payload = Object.create({ type: 'url_verification', challenge: 'c', topic: 'ping', Type: 'x' })
  for (const kind of ['slack', 'intercom', 'discord', 'aws-sns'] as const)
    assert.equal(ask(kind, sns, { payload, isTrusted: true }), undefined)
})
