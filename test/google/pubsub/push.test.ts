import assert from 'node:assert/strict'
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { OAuth2Client } from 'google-auth-library'
import { openAsking, start } from '../client.ts'

interface Posted {
  readonly path: string
  readonly token: string
  readonly body: {
    readonly message: { readonly data: string; readonly messageId: string }
    readonly subscription: string
  }
}

/** Starts a receiver of pushes, which answers with the statuses in turn. */
async function openReceiver(...statuses: number[]) {
  const posts: Posted[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    posts.push({ path: request.url ?? '', token, body })
    response.writeHead(statuses.shift() ?? 204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, posts, [Symbol.dispose]: () => void server.close() }
}

const serviceAccount = 'push@harbour-lights-4711.iam.gserviceaccount.com'

test('a push has a token for its audience, signed by the published keys', async () => {
  await using asking = await openAsking()
  using receiver = await openReceiver()
  const { google, ask, topic } = asking
  const endpoint = `${receiver.url}/hooks/gmail/push`
  const { subscription } = google.prepare({ push: { endpoint, serviceAccount, audience: 'us' } })
  await ask('gmail/gmail/v1/users/me/watch', { body: { topicName: topic } })
  await google.until(() => google.pushes.length === 1)
  assert.equal(google.unacknowledged, 0)
  const [post] = receiver.posts
  assert.ok(post)
  assert.deepEqual([post.path, post.body.subscription], ['/hooks/gmail/push', subscription])
  const data = JSON.parse(Buffer.from(post.body.message.data, 'base64').toString())
  assert.deepEqual(data, { emailAddress: google.account, historyId: 1204551 })

  const [head = '', payload = '', signature = ''] = post.token.split('.')
  const { keys } = (await (await fetch(google.certsUrl)).json()) as { keys: (JsonWebKey & { kid: string })[] }
  const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url').toString())
  const jwk = keys.find((key) => key.kid === kid)
  assert.ok(jwk && alg === 'RS256')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  assert.ok(verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url')))
  const { sub, azp, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const iat = start / 1000
  const iss = 'https://accounts.google.com'
  assert.deepEqual(claims, {
    aud: 'us',
    email: serviceAccount,
    email_verified: true,
    exp: iat + 3600,
    iat,
    iss,
  })
  assert.match(`${sub} ${azp}`, /^\d{20,21} \d{20,21}$/)
})

test("Google's own library accepts the token", async () => {
  await using asking = await openAsking({ now: Date.now() })
  using receiver = await openReceiver()
  const { google, topic } = asking
  google.prepare({ push: { endpoint: receiver.url, serviceAccount } })
  await asking.ask(`pubsub/v1/${topic}:publish`, { body: { messages: [{ data: 'e30=' }] } })
  await google.until(() => google.pushes.length === 1)
  const { keys } = (await (await fetch(google.certsUrl)).json()) as { keys: (JsonWebKey & { kid: string })[] }
  const pems = keys.map((jwk) => [
    jwk.kid,
    createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString(),
  ])
  const ticket = await new OAuth2Client().verifySignedJwtWithCertsAsync(
    receiver.posts[0]?.token ?? '',
    Object.fromEntries(pems),
    receiver.url,
    ['https://accounts.google.com'],
  )
  assert.equal(ticket.getPayload()?.email, serviceAccount)
})

test('an unacknowledged push comes again when the clock moves, under the same id', async () => {
  await using asking = await openAsking()
  using receiver = await openReceiver(503, 302, 202)
  const { google, topic } = asking
  google.prepare({ push: { endpoint: receiver.url, serviceAccount } })
  await asking.ask(`pubsub/v1/${topic}:publish`, { body: { messages: [{ data: 'e30=' }] } })
  for (const count of [1, 2, 3]) {
    await google.until(() => google.pushes.length === count)
    assert.equal(google.unacknowledged, count === 3 ? 0 : 1)
    google.advance(1000)
  }
  assert.deepEqual(
    google.pushes.map(({ status }) => status),
    [503, 302, 202],
  )
  assert.equal(new Set(receiver.posts.map(({ body }) => body.message.messageId)).size, 1)
})

test('a public address is reached through its tunnel, and not at all without one', async () => {
  await using asking = await openAsking()
  using receiver = await openReceiver()
  const { google, topic } = asking
  google.prepare({ push: { endpoint: 'https://hooks.example.com/hooks/gmail/push', serviceAccount } })
  await asking.ask(`pubsub/v1/${topic}:publish`, { body: { messages: [{ data: 'e30=' }] } })
  await google.until(() => google.pushes.length === 1)
  assert.equal(google.pushes[0]?.status, 0)
  google.tunnel('https://hooks.example.com', receiver.url)
  google.advance(1000)
  await google.until(() => google.pushes.length === 2)
  assert.equal(google.unacknowledged, 0)
  const [post] = receiver.posts
  assert.equal(post?.path, '/hooks/gmail/push')
  const claims = JSON.parse(Buffer.from(post?.token.split('.')[1] ?? '', 'base64url').toString())
  assert.equal(claims.aud, 'https://hooks.example.com/hooks/gmail/push')
})

test('a subscription that pushes cannot be pulled until it is changed', async () => {
  await using asking = await openAsking()
  using receiver = await openReceiver(500)
  const { google, ask, topic, subscription } = asking
  google.prepare({ push: { endpoint: receiver.url, serviceAccount } })
  await ask(`pubsub/v1/${topic}:publish`, { body: { messages: [{ data: 'e30=' }] } })
  await google.until(() => google.pushes.length === 1)
  const pull = () => ask(`pubsub/v1/${subscription}:pull`, { body: { maxMessages: 1 } })
  assert.equal((await pull()).body.error.status, 'FAILED_PRECONDITION')
  await ask(`pubsub/v1/${subscription}:modifyPushConfig`, { body: { pushConfig: {} } })
  assert.equal((await pull()).body.receivedMessages.length, 1)
})
