/** Tests mode push: Google posts signed notifications to the gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { until } from '../installation.ts'
import { watchMailbox } from './mailbox.ts'

const origin = 'https://hooks.example.com'
const endpoint = `${origin}/hooks/gmail/push`
const serviceAccount = 'pusher@harbour-lights-4711.iam.gserviceaccount.com'

/** The gateway is behind a proxy at `origin`, and Google reaches it there. */
async function watchPushed(t: TestContext) {
  const policy = { verify: { provider: 'google-pubsub', audience: endpoint, serviceAccount } }
  const watched = await watchMailbox(t, {
    settings: { mode: 'push' },
    // The gateway verifies Google's signatures by the real time.
    now: Date.now(),
    push: { endpoint, serviceAccount },
    hooks: ({ hooks }) => `${hooks}  endpoints: ${JSON.stringify({ 'gmail/push': policy })}\n`,
    install: ({ google }) => ({
      fetch(input, init) {
        assert.equal(String(input), 'https://www.googleapis.com/oauth2/v3/certs')
        return fetch(google.certsUrl, init)
      },
    }),
  })
  const { google, gateway } = watched
  google.tunnel(origin, await gateway.gateway.listen())
  /** Moves Google's clock meanwhile, so that refused pushes come again. */
  const acknowledged = () =>
    until(() => google.unacknowledged === 0 || void google.advance(1), 'the acknowledgements')
  // The watch began with a notification, perhaps before the tunnel existed.
  await acknowledged()
  const known = google.pushes.length
  return { ...watched, gateway, acknowledged, pushes: () => google.pushes.slice(known) }
}

const keysOf = (runs: readonly RunRecord[]) => runs.map(({ sessionKey }) => sessionKey).sort()

test('a notification that Google signed brings the mail, and is acknowledged once the mail is on disk', async (t) => {
  const { google, gateway, runs, acknowledged, pushes } = await watchPushed(t)
  const id = google.deliver({ subject: 'pushed' })
  assert.deepEqual(keysOf(await runs(1)), [`hook:gmail:${id}`])
  await acknowledged()
  assert.ok(pushes().length > 0 && pushes().every(({ status }) => status === 204))
  assert.equal(
    google.callsOf('pubsub.projects.subscriptions.pull').length,
    0,
    'the gateway does not pull what is pushed',
  )
  const { items } = await gateway.read<Page<RequestRecord>>('/api/requests?limit=100')
  assert.ok(items.every(({ outcome, endpoint }) => outcome !== 'refused' || endpoint !== 'gmail'))
  assert.deepEqual(google.mistakes, [])
})

test('while mails cannot be stored Google is asked to post again, and then each mail causes one run', async (t) => {
  const { google, clock, runs, acknowledged, pushes } = await watchPushed(t)
  const held = Promise.withResolvers<void>()
  google.fail('gmail.users.history.list', { status: 500 }, { until: held.promise })
  const ids = google.deliverMany(3)
  await until(async () => {
    await clock.advance(10_000)
    return pushes().some(({ status }) => status === 503) || undefined
  }, 'a refusal')
  held.resolve()
  await runs(3)
  google.notifyAgain()
  await acknowledged()
  assert.deepEqual(keysOf(await runs(3)), ids.map((id) => `hook:gmail:${id}`).sort())
})

test("a notification without Google's signature, or signed for another audience, is refused", async (t) => {
  const { google, gateway } = await watchPushed(t)
  const { ask, post } = gateway
  google.loseNotifications(1)
  google.deliver()
  const before = google.callsOf('gmail.users.history.list').length
  const news = JSON.stringify({ emailAddress: google.account, historyId: 99999999 })
  const message = { data: Buffer.from(news).toString('base64'), messageId: '1' }
  const payload = JSON.stringify({ message, subscription: 'projects/p/subscriptions/s' })
  const headers = { 'content-type': 'application/json' }
  const bare = await ask('/hooks/gmail/push', { method: 'POST', headers, payload })
  assert.equal(bare.status, 401)
  assert.equal(
    (await post('/hooks/gmail/push', JSON.parse(payload))).status,
    401,
    'the hook token is no signature',
  )
  const forged = { ...headers, authorization: 'Bearer e30.e30.e30' }
  assert.equal((await ask('/hooks/gmail/push', { method: 'POST', headers: forged, payload })).status, 401)
  assert.equal(google.callsOf('gmail.users.history.list').length, before)
})
