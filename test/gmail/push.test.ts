/** Tests mode push: Google posts signed notifications to the gateway. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SourceState } from '../../runtime/sources/index.ts'
import { createManualSourceClock } from '../../runtime/sources/test-bed.ts'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { configuration, createFolder, hookToken, install, until } from '../installation.ts'
import { createMailbox } from './mailbox.ts'

const origin = 'https://hooks.example.com'
const endpoint = `${origin}/hooks/gmail/push`
const serviceAccount = 'pusher@harbour-lights-4711.iam.gserviceaccount.com'

/** The gateway is behind a proxy at `origin`, and Google reaches it there. */
async function createPushed(t: TestContext) {
  const push = { endpoint, serviceAccount }
  // The gateway verifies Google's signatures by the real time.
  const clock = createManualSourceClock(Date.now())
  const mailbox = await createMailbox(t, { mode: 'push' }, clock.now(), { push })
  const { google } = mailbox
  const policy = { verify: { provider: 'google-pubsub', audience: endpoint, serviceAccount } }
  const hooks = `  enabled: true\n  token: ${hookToken}\n${mailbox.hooks}  endpoints: ${JSON.stringify({ 'gmail/push': policy })}\n`
  const folder = await createFolder(t, {
    'reveille.yaml': configuration.replace(/^hooks: .*\n/m, `hooks:\n${hooks}`),
  })
  await mailbox.consent(join(folder, 'data'))
  const keys: typeof fetch = (input, init) => {
    assert.equal(String(input), 'https://www.googleapis.com/oauth2/v3/certs')
    return fetch(google.certsUrl, init)
  }
  const installation = await install(t, {}, { folder, fetch: keys, clock })
  const { gateway, read } = installation
  google.tunnel(origin, await gateway.listen())

  /** Moves Google's clock meanwhile, so that refused pushes come again. */
  const eventually = <Value>(ask: () => Promise<Value | undefined> | Value | undefined, what: string) =>
    until(async () => {
      const value = await ask()
      if (value === undefined) google.advance(1)
      return value
    }, what)
  await eventually(async () => {
    const { sources } = await read<{ sources: SourceState[] }>('/api/status')
    return sources.find(({ times }) => times?.['readAt'] !== undefined)
  }, 'the first reading')
  // The watch began with a notification, perhaps before the tunnel existed.
  await eventually(() => google.unacknowledged === 0 || undefined, 'the first acknowledgement')
  const known = google.pushes.length
  return {
    ...installation,
    google,
    clock,
    pushes: () => google.pushes.slice(known),
    acknowledged: () => eventually(() => google.unacknowledged === 0 || undefined, 'the acknowledgements'),
    /** Returns the session keys of the runs of mails once there are this many. */
    runs: (count: number) =>
      eventually(async () => {
        const { items } = await read<Page<RunRecord>>('/api/runs?limit=100')
        const keys = items.map(({ sessionKey }) => sessionKey).filter((key) => key.startsWith('hook:gmail:'))
        return keys.length >= count ? keys : undefined
      }, `${count} runs`),
  }
}

test('a notification that Google signed brings the mail, and is acknowledged once the mail is on disk', async (t) => {
  const { google, read, runs, acknowledged, pushes } = await createPushed(t)
  const id = google.deliver({ subject: 'pushed' })
  assert.deepEqual(await runs(1), [`hook:gmail:${id}`])
  await acknowledged()
  assert.ok(pushes().length > 0 && pushes().every(({ status }) => status === 204))
  assert.equal(
    google.callsOf('pubsub.projects.subscriptions.pull').length,
    0,
    'the gateway does not pull what is pushed',
  )
  const { items } = await read<Page<RequestRecord>>('/api/requests?limit=100')
  assert.ok(items.every(({ outcome, endpoint }) => outcome !== 'refused' || endpoint !== 'gmail'))
  assert.deepEqual(google.mistakes, [])
})

test('while mails cannot be stored Google is asked to post again, and then each mail causes one run', async (t) => {
  const { google, clock, runs, acknowledged, pushes } = await createPushed(t)
  const held = Promise.withResolvers<void>()
  google.fail('gmail.users.history.list', { status: 500 }, { until: held.promise })
  const ids = google.deliverMany(3)
  await until(() => {
    clock.advance(10_000)
    return pushes().some(({ status }) => status === 503) || undefined
  }, 'a refusal')
  held.resolve()
  await runs(3)
  google.notifyAgain()
  await acknowledged()
  assert.deepEqual([...(await runs(3))].sort(), ids.map((id) => `hook:gmail:${id}`).sort())
})

test("a notification without Google's signature, or signed for another audience, is refused", async (t) => {
  const { google, ask, post } = await createPushed(t)
  google.loseNotifications(1)
  google.deliver()
  const before = google.callsOf('gmail.users.history.list').length
  const data = Buffer.from(JSON.stringify({ emailAddress: google.account, historyId: 99999999 })).toString(
    'base64',
  )
  const payload = JSON.stringify({
    message: { data, messageId: '1' },
    subscription: 'projects/p/subscriptions/s',
  })
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
