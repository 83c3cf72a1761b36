import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import type { HmacPolicy } from '../config/schema/policy-schema.ts'
import type { DeliveredRequest } from './delivery-id.ts'
import { createProvider } from './provider.ts'

function idOf(provider: string, request: Partial<DeliveredRequest>, hmac?: HmacPolicy): string | undefined {
  const { deliveryIdOf } = createProvider({ provider, hmac })
  return deliveryIdOf({ headers: {}, payload: undefined, rawBody: Buffer.from('{}'), ...request })
}

const digestOfBody = `sha256:${hash('sha256', '{}')}`

test('an id may be in a header, in a field of the body, or in several together', () => {
  assert.equal(idOf('github', { headers: { 'x-github-delivery': 'd1' } }), 'd1')
  assert.equal(idOf('stripe', { payload: { id: 'evt_1' } }), 'evt_1')
  assert.equal(idOf('telegram', { payload: { update_id: 7 } }), '7')
  const payload = { event: 'invitee.created', created_at: '2026-01-15', payload: { uri: 'https://a/1' } }
  assert.equal(idOf('calendly', { payload }), '["invitee.created","https://a/1","2026-01-15"]')
})

test('if one of several parts is missing or empty, there is no id', () => {
  assert.equal(idOf('calendly', { payload: { event: 'invitee.created', created_at: '2026' } }), undefined)
  assert.equal(idOf('github', { headers: { 'x-github-delivery': '' } }), undefined)
  assert.equal(idOf('intercom', { payload: { id: null } }), undefined)
  for (const payload of [undefined, null, 'text', 7, [], { id: {} }, { id: true }]) {
    assert.equal(idOf('stripe', { payload }), undefined)
  }
})

test('two lists of values never give the same id', () => {
  const event = (id: unknown) => ({ eventId: id, subscriptionId: 1, objectId: 2, occurredAt: 3 })
  const one = idOf('hubspot', { payload: [event('a'), event('b')] })
  const other = idOf('hubspot', { payload: [event('a","b')] })
  assert.ok(one && other)
  assert.notEqual(one, other)
})

test('the id of a batch has a limited length, is the same for every attempt, and differs from that of another batch', () => {
  const batch = (first: number) =>
    Array.from({ length: 5000 }, (_, at) => ({ sg_event_id: `e${first + at}` }))
  const id = idOf('sendgrid', { payload: batch(0) })
  assert.match(id ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(idOf('sendgrid', { payload: batch(0) }), id)
  assert.notEqual(idOf('sendgrid', { payload: batch(1) }), id)
  assert.match(idOf('github', { headers: { 'x-github-delivery': 'x'.repeat(10_000) } }) ?? '', /^sha256:/)
})

test('a rounded number is not an id, because another number may have become the same', () => {
  assert.equal(idOf('telegram', { payload: JSON.parse('{"update_id":820982911946154508}') }), undefined)
})

test('Meta: the ids of all messages, else the digest of the body', () => {
  const messages = (...ids: string[]) => ({ value: { messages: ids.map((id) => ({ id })) } })
  const payload = {
    entry: [{ changes: [messages('a', 'b'), { value: { statuses: [{}] } }] }, { changes: [messages('c')] }],
  }
  assert.equal(idOf('meta', { payload }), '[["a","b","c"]]')
  assert.equal(
    idOf('meta', { payload: { entry: [{ changes: [{ value: { statuses: [{}] } }] }] } }),
    digestOfBody,
  )
  assert.equal(idOf('discord', { payload: { type: 1, event: {} } }), digestOfBody)
})

test('Google: the id of the message with its subscription, in the envelope or in headers', () => {
  assert.equal(
    idOf('google-pubsub', { payload: { subscription: 's', message: { messageId: '1', message_id: '1' } } }),
    '["1","s"]',
  )
  const headers = { 'x-goog-pubsub-message-id': '1', 'x-goog-pubsub-subscription-name': 's' }
  assert.equal(idOf('google-pubsub', { headers, payload: {} }), '["1","s"]')
})

test('Twilio: its token, else the message or call with its status', () => {
  const headers = { 'i-twilio-idempotency-token': 't' }
  const payload = { MessageSid: 'SM1', MessageStatus: 'sent' }
  assert.equal(idOf('twilio', { headers, payload }), 't')
  assert.equal(idOf('twilio', { payload }), '["SM1","sent"]')
  assert.equal(
    idOf('twilio', { payload: { MessageSid: 'SM1', SmsStatus: 'received' } }),
    '["SM1","received"]',
  )
  assert.equal(idOf('twilio', { payload: { CallSid: 'CA1', CallStatus: 'ringing' } }), '["CA1","ringing"]')
  assert.equal(idOf('twilio', { payload: { CallSid: 'CA1' } }), undefined)
})

test('Slack: the event, else the trigger', () => {
  assert.equal(idOf('slack', { payload: { event_id: 'Ev1' } }), 'Ev1')
  assert.equal(idOf('slack', { payload: { trigger_id: '1.2' } }), '1.2')
})

test('GitLab: the signed id comes first, and the one that recursive hooks share is ignored', () => {
  const headers = { 'webhook-id': 'w', 'idempotency-key': 'i', 'x-gitlab-event-uuid': 'u' }
  assert.equal(idOf('gitlab', { headers }), 'w')
  assert.equal(idOf('gitlab', { headers: { ...headers, 'webhook-id': undefined } }), 'i')
  assert.equal(idOf('gitlab', { headers: { 'x-gitlab-event-uuid': 'u' } }), undefined)
})

test('CloudEvents: source and id together, in headers or in the envelope', () => {
  assert.equal(idOf('cloudevents', { headers: { 'ce-source': 's', 'ce-id': '1' }, payload: {} }), '["s","1"]')
  assert.equal(idOf('cloudevents', { payload: { source: 's', id: '1' } }), '["s","1"]')
})

test('hmac: the configured header, else the signed id', () => {
  const hmac: HmacPolicy = {
    header: 'X-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    signed: '{id}.{body}',
    timestampUnit: 's',
    idHeader: 'X-Id',
  }
  const headers = { 'x-id': '1', 'x-delivery': '2' }
  assert.equal(idOf('hmac', { headers }, hmac), '1')
  assert.equal(idOf('hmac', { headers }, { ...hmac, deliveryIdHeader: 'X-Delivery' }), '2')
})

test('no name of a field or header reaches a prototype', () => {
  assert.equal(idOf('stripe', { payload: Object.create({ id: 'inherited' }) }), undefined)
  assert.equal(idOf('github', { headers: Object.create({ 'x-github-delivery': 'inherited' }) }), undefined)
})
