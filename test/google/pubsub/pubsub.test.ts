import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asking, openAsking } from '../client.ts'

interface Received {
  readonly ackId: string
  readonly message: { readonly messageId: string; readonly data: string }
}

async function pull({ ask, subscription }: Asking, maxMessages = 100): Promise<readonly Received[]> {
  const { status, body } = await ask(`pubsub/v1/${subscription}:pull`, { body: { maxMessages } })
  assert.equal(status, 200, JSON.stringify(body))
  return body.receivedMessages ?? []
}

async function publish({ ask, topic }: Asking, ...texts: readonly string[]): Promise<readonly string[]> {
  const messages = texts.map((text) => ({ data: Buffer.from(text).toString('base64') }))
  return (await ask(`pubsub/v1/${topic}:publish`, { body: { messages } })).body.messageIds
}

const idsOf = (received: readonly Received[]) => received.map(({ message }) => message.messageId)
const acksOf = (received: readonly Received[]) => received.map(({ ackId }) => ackId)

test('an unacknowledged message comes again after its deadline, under another ack id', async () => {
  await using asking = await openAsking()
  const { ask, google, subscription } = asking
  const [one = '', two = ''] = await publish(asking, 'one', 'two')
  const first = await pull(asking, 1)
  assert.deepEqual([idsOf(first), idsOf(await pull(asking)), idsOf(await pull(asking))], [[one], [two], []])
  google.advance(60_000)
  const again = await pull(asking)
  assert.deepEqual(idsOf(again), [one, two])
  assert.notEqual(again[0]?.ackId, first[0]?.ackId)
  const acknowledge = (ackIds: readonly string[]) =>
    ask(`pubsub/v1/${subscription}:acknowledge`, { body: { ackIds } })
  assert.equal((await acknowledge(acksOf(first))).status, 200, 'too late is no mistake')
  assert.equal(google.unacknowledged, 2, 'and does nothing')
  await acknowledge(acksOf(again))
  assert.equal(google.unacknowledged, 0)
  google.advance(600_000)
  assert.deepEqual(await pull(asking), [])
  assert.deepEqual(google.mistakes, [])
  assert.equal((await acknowledge(['nonsense'])).status, 400)
})

test('a deadline can be extended or given up', async () => {
  await using asking = await openAsking()
  const { ask, google, subscription } = asking
  await publish(asking, 'one')
  const modify = (received: readonly Received[], ackDeadlineSeconds: number) =>
    ask(`pubsub/v1/${subscription}:modifyAckDeadline`, {
      body: { ackIds: acksOf(received), ackDeadlineSeconds },
    })
  const received = await pull(asking)
  await modify(received, 600)
  google.advance(599_000)
  assert.deepEqual(await pull(asking), [])
  await modify(received, 0)
  assert.equal((await pull(asking)).length, 1)
  assert.equal((await modify(received, 601)).status, 400)
})

test('a pull waits for a message or a released one, and no longer than allowed', async () => {
  await using asking = await openAsking({ pullWait: 60_000 })
  const { google } = asking
  const waiting = pull(asking)
  await google.until(() => google.callsOf('pubsub.projects.subscriptions.pull').length === 1)
  const [id] = await publish(asking, 'one')
  assert.deepEqual(idsOf(await waiting), [id])
  const again = pull(asking)
  await google.until(() => google.callsOf('pubsub.projects.subscriptions.pull').length === 2)
  google.advance(60_000)
  const received = await again
  assert.deepEqual(idsOf(received), [id])
  const third = pull(asking)
  await google.until(() => google.callsOf('pubsub.projects.subscriptions.pull').length === 3)
  await asking.ask(`pubsub/v1/${asking.subscription}:modifyAckDeadline`, {
    body: { ackIds: acksOf(received), ackDeadlineSeconds: 0 },
  })
  assert.deepEqual(idsOf(await third), [id])
  const { ask, subscription } = asking
  const body = { maxMessages: 1, returnImmediately: true }
  assert.deepEqual((await ask(`pubsub/v1/${subscription}:pull`, { body })).body, {})
})

test('an aborted pull leases no message', async () => {
  await using asking = await openAsking({ pullWait: 60_000 })
  const { google, subscription, token } = asking
  const gone = new AbortController()
  const left = fetch(`${google.baseUrls.pubsub}/v1/${subscription}:pull`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"maxMessages":1}',
    signal: gone.signal,
  })
  await google.until(() => google.callsOf('pubsub.projects.subscriptions.pull').length === 1)
  let calls = 0
  const ended = google.until(() => calls++ > 0)
  gone.abort()
  await assert.rejects(left)
  await ended
  const [id] = await publish(asking, 'one')
  assert.deepEqual(idsOf(await pull(asking)), [id])
})

test('each subscription has its own copy of later messages only', async () => {
  await using asking = await openAsking()
  const { ask, google, topic } = asking
  await publish(asking, 'before')
  const name = `projects/${google.project}/subscriptions/other`
  await ask(`pubsub/v1/${name}`, { method: 'PUT', body: { topic } })
  const [id] = await publish(asking, 'after')
  assert.equal(google.unacknowledged, 3)
  assert.deepEqual(idsOf(await pull({ ...asking, subscription: name })), [id])
})

test('resources are made once, under valid names, and on existing resources only', async () => {
  await using asking = await openAsking()
  const { ask, google, topic, subscription } = asking
  const { project } = google
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await ask(`pubsub/v1/${path}`, { method: 'PUT', body })
    return [status, answer.error?.status]
  }
  assert.deepEqual(await put(topic, {}), [409, 'ALREADY_EXISTS'])
  assert.deepEqual(await put(subscription, { topic }), [409, 'ALREADY_EXISTS'])
  const free = `projects/${project}/subscriptions/free`
  assert.deepEqual(await put(free, { topic: `projects/${project}/topics/none` }), [404, 'NOT_FOUND'])
  assert.deepEqual(google.mistakes, [])
  const bad: readonly (readonly [string, object])[] = [
    [`projects/${project}/topics/ab`, {}],
    [`projects/${project}/topics/1st`, {}],
    [`projects/${project}/topics/google-mail`, {}],
    [free, { topic: 'topic' }],
    [free, { topic, ackDeadlineSeconds: 9 }],
    [free, { topic, ackDeadlineSeconds: 601 }],
    [free, { topic, pushConfig: { pushEndpoint: 'http://example.com/push' } }],
    [
      free,
      {
        topic,
        pushConfig: { pushEndpoint: 'https://example.com/', oidcToken: { serviceAccountEmail: 'me' } },
      },
    ],
  ]
  for (const [path, body] of bad) {
    assert.deepEqual(await put(path, body), [400, 'INVALID_ARGUMENT'], JSON.stringify([path, body]))
  }
  assert.equal(google.mistakes.length, bad.length)
  assert.deepEqual(await put(`projects/other/topics/mine`, {}), [403, 'PERMISSION_DENIED'])
  assert.deepEqual(await put(free, { topic }), [200, undefined])
  const { body } = await ask(`pubsub/v1/${free}`)
  assert.deepEqual([body.name, body.topic, body.ackDeadlineSeconds, body.pushConfig], [free, topic, 10, {}])
  assert.deepEqual(google.resources, [topic, subscription, free])
  await ask(`pubsub/v1/${topic}`, { method: 'DELETE' })
  assert.equal((await ask(`pubsub/v1/${free}`)).body.topic, '_deleted-topic_')
  const { status, body: none } = await ask(`pubsub/v1/${topic}`)
  assert.deepEqual([status, none.error.message], [404, 'Resource not found (resource=reveille-gmail).'])
})

test('a policy is written only on the version that was read', async () => {
  await using asking = await openAsking()
  const { ask, google, topic } = asking
  const read = async () => (await ask(`pubsub/v1/${topic}:getIamPolicy`)).body
  const write = (policy: object) => ask(`pubsub/v1/${topic}:setIamPolicy`, { body: { policy } })
  const policy = await read()
  const role = 'roles/pubsub.subscriber'
  const bindings = [...policy.bindings, { role, members: ['user:ada@example.com'] }]
  google.setRole({ role, member: 'user:grace@example.com', isGranted: true })
  const stale = await write({ ...policy, bindings })
  assert.deepEqual([stale.status, stale.body.error.status], [409, 'ABORTED'])
  assert.deepEqual(google.roles[role], ['user:grace@example.com'])
  const { etag } = await read()
  const written = await write({ etag, bindings })
  assert.deepEqual([written.status, google.roles[role]], [200, ['user:ada@example.com']])
  assert.notEqual(written.body.etag, etag)
  assert.deepEqual(google.mistakes, [])
  for (const binding of [
    { role: 'publisher', members: ['user:a@b'] },
    { role, members: ['ada@example.com'] },
    { role },
  ]) {
    assert.equal((await write({ bindings: [binding] })).status, 400, JSON.stringify(binding))
  }
})
