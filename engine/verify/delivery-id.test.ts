import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { parse } from 'yaml'
import { testBlocks } from '../config/blocks-fixture.ts'
import type { HmacPolicy } from '../config/schema/policy-schema.ts'
import type { DeliveredRequest } from './delivery-id.ts'
import { createProvider } from './provider.ts'

function idOf(provider: string, request: Partial<DeliveredRequest>, hmac?: HmacPolicy): string | undefined {
  const { deliveryIdOf } = createProvider({ provider, hmac })
  return deliveryIdOf({ headers: {}, payload: undefined, rawBody: Buffer.from('{}'), ...request })
}

/** The provider, the request as YAML, and behind the arrow its id; nothing, if it has none. */
const cases = `
# an id may be in a header, in a field of the body, or in several together, of which none may be missing
github { headers: { x-github-delivery: d1 } } → d1
github { headers: { x-github-delivery: '' } } →
stripe { payload: { id: evt_1 } } → evt_1
telegram { payload: { update_id: 7 } } → 7
calendly { payload: { event: invitee.created, created_at: '2026-01-15', payload: { uri: 'https://a/1' } } } → ["invitee.created","https://a/1","2026-01-15"]
calendly { payload: { event: invitee.created, created_at: '2026' } } ¦ intercom { payload: { id: null } } ¦ stripe {} ¦ stripe { payload: null } ¦ stripe { payload: text } ¦ stripe { payload: 7 } ¦ stripe { payload: [] } ¦ stripe { payload: { id: {} } } ¦ stripe { payload: { id: true } } →

# a rounded number is not an id, because another number may have become the same
telegram { payload: { update_id: 820982911946154508 } } →

# Meta: the ids of all messages, else the digest of the body
meta { payload: { entry: [{ changes: [{ value: { messages: [{ id: a }, { id: b }] } }, { value: { statuses: [{}] } }] }, { changes: [{ value: { messages: [{ id: c }] } }] }] } } → [["a","b","c"]]
meta { payload: { entry: [{ changes: [{ value: { statuses: [{}] } }] }] } } ¦ discord { payload: { type: 1, event: {} } } → sha256:${hash('sha256', '{}')}

# Google: the id of the message with its subscription, in the envelope or in headers
google-pubsub { payload: { subscription: s, message: { messageId: '1', message_id: '1' } } } ¦ google-pubsub { headers: { x-goog-pubsub-message-id: '1', x-goog-pubsub-subscription-name: s }, payload: {} } → ["1","s"]

# Twilio: its token, else the message or call with its status
twilio { headers: { i-twilio-idempotency-token: t }, payload: { MessageSid: SM1, MessageStatus: sent } } → t
twilio { payload: { MessageSid: SM1, MessageStatus: sent } } → ["SM1","sent"]
twilio { payload: { MessageSid: SM1, SmsStatus: received } } → ["SM1","received"]
twilio { payload: { CallSid: CA1, CallStatus: ringing } } → ["CA1","ringing"]
twilio { payload: { CallSid: CA1 } } →

# Slack: the event, else the trigger
slack { payload: { event_id: Ev1 } } → Ev1
slack { payload: { trigger_id: '1.2' } } → 1.2

# GitLab: the signed id comes first, and the one that recursive hooks share is ignored
gitlab { headers: { webhook-id: w, idempotency-key: i, x-gitlab-event-uuid: u } } → w
gitlab { headers: { idempotency-key: i, x-gitlab-event-uuid: u } } → i
gitlab { headers: { x-gitlab-event-uuid: u } } →

# CloudEvents: source and id together, in headers or in the envelope
cloudevents { headers: { ce-source: s, ce-id: '1' }, payload: {} } ¦ cloudevents { payload: { source: s, id: '1' } } → ["s","1"]
`

testBlocks(cases, (row) => {
  const [, provider = '', request = '', id] = /^(\S+) (.*) →(?: (.*))?$/.exec(row) ?? []
  assert.equal(idOf(provider, parse(request)), id, row)
})

test('two lists of values never give the same id', () => {
  const event = (id: unknown) => ({ eventId: id, subscriptionId: 1, objectId: 2, occurredAt: 3 })
  const one = idOf('hubspot', { payload: [event('a'), event('b')] })
  const other = idOf('hubspot', { payload: [event('a","b')] })
  assert.ok(one && other && one !== other)
})

test('the id of a batch has a limited length, is the same for every attempt, and differs from that of another batch', () => {
  const batch = (first: number) => ({
    payload: Array.from({ length: 5000 }, (_, at) => ({ sg_event_id: `e${first + at}` })),
  })
  const id = idOf('sendgrid', batch(0))
  assert.match(id ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(idOf('sendgrid', batch(0)), id)
  assert.notEqual(idOf('sendgrid', batch(1)), id)
  assert.match(idOf('github', { headers: { 'x-github-delivery': 'x'.repeat(10_000) } }) ?? '', /^sha256:/)
})

test('hmac: the configured header, else the signed id', () => {
  const own = { header: 'X-Signature', algorithm: 'sha256', encoding: 'hex', key: 'text' } as const
  const hmac: HmacPolicy = { ...own, signed: '{id}.{body}', timestampUnit: 's', idHeader: 'X-Id' }
  const headers = { 'x-id': '1', 'x-delivery': '2' }
  assert.equal(idOf('hmac', { headers }, hmac), '1')
  assert.equal(idOf('hmac', { headers }, { ...hmac, deliveryIdHeader: 'X-Delivery' }), '2')
})

test('no name of a field or header reaches a prototype', () => {
  assert.equal(idOf('stripe', { payload: Object.create({ id: 'inherited' }) }), undefined)
  assert.equal(idOf('github', { headers: Object.create({ 'x-github-delivery': 'inherited' }) }), undefined)
})
