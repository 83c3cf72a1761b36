import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, failureOf, openScripted, pubsubError } from './fixture.ts'

const topic = 'projects/p/topics/t'
const subscription = 'projects/p/subscriptions/s'
const notFound = pubsubError(404, 'NOT_FOUND', 'Resource not found (resource=t).')
const aborted = pubsubError(409, 'ABORTED', 'There were concurrent policy changes.')
const data = Buffer.from('{"emailAddress":"ada@example.com","historyId":9876543210}').toString('base64')

test('a pull returns the messages that came, or an empty list', async () => {
  const route = `POST /v1/${subscription}:pull`
  await using google = await openScripted({
    [route]: [
      { body: { receivedMessages: [{ ackId: 'ack-1', message: { data, messageId: '11' } }] } },
      { body: { receivedMessages: [{ ackId: 'ack-2', message: { messageId: '12', attributes: {} } }] } },
      { body: {} },
      pubsubError(504, 'DEADLINE_EXCEEDED', 'The deadline passed.'),
    ],
  })
  const about = { emailAddress: 'ada@example.com', historyId: '9876543210' }
  const { pull } = google.pubsub
  assert.deepEqual(await pull(subscription, 100, google.signal), [{ ackId: 'ack-1', messageId: '11', about }])
  assert.deepEqual(await pull(subscription, 5000, google.signal), [{ ackId: 'ack-2', messageId: '12' }])
  assert.deepEqual(await pull(subscription, 100, google.signal), [])
  assert.deepEqual(await pull(subscription, 100, google.signal), [])
  assert.deepEqual(
    google.calls.map((call) => call.body),
    [{ maxMessages: 100 }, { maxMessages: 1000 }, { maxMessages: 100 }, { maxMessages: 100 }],
  )
})

test('a gateway timeout from a proxy is not an empty pull', async () => {
  await using google = await openScripted({
    [`POST /v1/${subscription}:pull`]: [{ status: 504, raw: '<html>' }],
  })
  await fails(google.pubsub.pull(subscription, 1, google.signal), 'unavailable', true)
})

test('a message without an acknowledgement id fails the pull', async () => {
  for (const received of [
    { message: { messageId: '1' } },
    { ackId: 'ack-1' },
    'message',
    { ackId: 'a', message: {} },
  ]) {
    const body = { receivedMessages: [received] }
    await using google = await openScripted({ [`POST /v1/${subscription}:pull`]: [{ body }] })
    await fails(google.pubsub.pull(subscription, 1, google.signal), 'malformed', true)
  }
})

test('special characters of a name are escaped in the path', async () => {
  const name = 'projects/example.com:p/topics/a+b%2Fc?x=1#y'
  await using google = await openScripted({
    [`GET /v1/${name}`]: [{ body: { name } }],
  })
  assert.deepEqual(await google.pubsub.topic(name, google.signal), { name })
  assert.deepEqual(google.calls[0]?.query, {})
})

test('a subscription is read as it was made', async () => {
  const endpoint = 'https://hooks.example.com/hooks/gmail/push'
  const push = { endpoint, serviceAccount: 's@p.iam', audience: 'us' }
  const oidcToken = { serviceAccountEmail: push.serviceAccount, audience: push.audience }
  const pushConfig = { pushEndpoint: endpoint, oidcToken }
  const body = { name: subscription, topic, ackDeadlineSeconds: 60, state: 'ACTIVE' }
  await using google = await openScripted({
    [`GET /v1/${subscription}`]: [
      notFound,
      { body: { ...body, pushConfig: {} } },
      { body: { ...body, pushConfig } },
      { body: { ...body, pushConfig: { pushEndpoint: endpoint } } },
      { body: { ...body, ackDeadlineSeconds: undefined } },
    ],
  })
  const { pubsub, signal } = google
  const pulled = { name: subscription, topic, ackDeadline: 60 }
  assert.equal(await pubsub.subscription(subscription, signal), undefined)
  assert.deepEqual(await pubsub.subscription(subscription, signal), pulled)
  assert.deepEqual(await pubsub.subscription(subscription, signal), { ...pulled, push })
  assert.deepEqual(await pubsub.subscription(subscription, signal), { ...pulled, push: { endpoint } })
  await fails(pubsub.subscription(subscription, signal), 'malformed', true)
})

const role = 'roles/pubsub.publisher'
const member = 'serviceAccount:gmail-api-push@system.gserviceaccount.com'
const get = `GET /v1/${topic}:getIamPolicy`
const set = `POST /v1/${topic}:setIamPolicy`

test('a member that has the role is not granted it again', async () => {
  const body = { etag: 'BwX', bindings: [{ role, members: ['user:ada@example.com', member] }] }
  await using google = await openScripted({ [get]: [{ body }] })
  assert.equal(await google.pubsub.grant(topic, role, member, google.signal), 'had')
  assert.deepEqual(google.calls[0]?.query, { 'options.requestedPolicyVersion': ['3'] })
  assert.equal(google.calls.length, 1)
})

test('granting a role keeps the rest of the policy', async () => {
  const condition = { title: 'until March', expression: 'request.time < timestamp("2026-03-01T00:00:00Z")' }
  const conditional = { role, members: [member], condition }
  const viewers = { role: 'roles/viewer', members: ['user:ada@example.com'] }
  const cases = [
    [{ etag: 'ACAB' }, { etag: 'ACAB', bindings: [{ role, members: [member] }] }],
    [
      { etag: 'BwX', version: 1, bindings: [viewers, { role, members: ['user:ada@example.com'] }] },
      { etag: 'BwX', version: 1, bindings: [viewers, { role, members: ['user:ada@example.com', member] }] },
    ],
    [
      { etag: 'BwX', version: 3, bindings: [conditional], auditConfigs: [{}] },
      { etag: 'BwX', version: 3, bindings: [conditional, { role, members: [member] }], auditConfigs: [{}] },
    ],
  ]
  for (const [before, after] of cases) {
    await using google = await openScripted({ [get]: [{ body: before }], [set]: [{}] })
    assert.equal(await google.pubsub.grant(topic, role, member, google.signal), 'granted')
    assert.deepEqual(google.calls[1]?.body, { policy: after })
  }
})

test('a policy that another process changed meanwhile is read and written again', async () => {
  const first = { body: { etag: 'one' } }
  const second = { body: { etag: 'two', bindings: [{ role, members: ['user:ada@example.com'] }] } }
  await using google = await openScripted({ [get]: [first, second], [set]: [aborted, {}] })
  assert.equal(await google.pubsub.grant(topic, role, member, google.signal), 'granted')
  assert.partialDeepStrictEqual(google.calls[3]?.body, { policy: { etag: 'two' } })

  await using busy = await openScripted({ [get]: [first], [set]: [aborted] })
  const failure = await failureOf(busy.pubsub.grant(topic, role, member, busy.signal))
  assert.deepEqual([failure.code, failure.retryable, busy.calls.length], ['unavailable', true, 4])
})

test("a member that the organisation's policy forbids is another error than a missing role", async () => {
  const words = 'One or more users named in the policy do not belong to a permitted customer'
  const forbidden = pubsubError(400, 'FAILED_PRECONDITION', words)
  await using google = await openScripted({ [get]: [{ body: { etag: 'x' } }], [set]: [forbidden] })
  const failure = await failureOf(google.pubsub.grant(topic, role, member, google.signal))
  assert.equal(failure.code, 'policy-forbids')
  assert.equal(failure.message, `Pub/Sub does not allow it (400): ${words}.`)
})

test('a policy that is not understood is not written back', async () => {
  const bodies = [
    {},
    { etag: 'x', bindings: 'all' },
    { etag: 'x', bindings: [null] },
    { etag: 'x', bindings: [{ role, members: 'everybody' }] },
  ]
  for (const body of bodies) {
    await using google = await openScripted({ [get]: [{ body }], [set]: [{}] })
    await fails(google.pubsub.grant(topic, role, member, google.signal), 'malformed', true)
    assert.equal(google.calls.length, 1)
  }
})
