/** Mode push: Google posts its notifications to the gateway, and is believed by what it signs. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { configuration, createFolder, hookToken, install, until } from '../installation.ts'
import { createMailbox } from './mailbox.ts'

const origin = 'https://hooks.example.com'
const endpoint = `${origin}/hooks/gmail/push`
const serviceAccount = 'pusher@harbour-lights-4711.iam.gserviceaccount.com'

/** As it stands behind a proxy at `origin`, and is reached by Google over it. */
async function createPushed(t: TestContext) {
  const push = { endpoint, serviceAccount }
  const mailbox = await createMailbox(t, { mode: 'push' }, Date.now(), { push })
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
  const installation = await install(t, {}, { folder, fetch: keys })
  google.tunnel(origin, await installation.gateway.listen())
  await installation.line('gmail-watching')
  return { ...installation, google }
}

async function runsOf({ read }: Pick<Awaited<ReturnType<typeof install>>, 'read'>) {
  const { items } = await read<Page<RunRecord>>('/api/runs?limit=100')
  return items.map(({ sessionKey }) => sessionKey)
}

test('what Google posts and signs brings the mail, and is acknowledged once the mail is on disk', async (t) => {
  const pushed = await createPushed(t)
  const { google, read } = pushed
  const id = google.deliver({ subject: 'pushed' })
  await until(async () => ((await runsOf(pushed)).length === 1 ? true : undefined), 'the run')
  assert.deepEqual(await runsOf(pushed), [`hook:gmail:${id}`])
  await google.until(() => google.unacknowledged === 0)
  assert.ok(google.pushes.length > 0 && google.pushes.every(({ status }) => status === 204))
  assert.equal(
    google.callsOf('pubsub.projects.subscriptions.pull').length,
    0,
    'nobody asks for what is pushed',
  )
  const { items } = await read<Page<RequestRecord>>('/api/requests?limit=100')
  assert.ok(items.every(({ outcome, endpoint }) => outcome !== 'refused' || endpoint !== 'gmail'))
  assert.deepEqual(google.complaints, [])
})

test('while mails cannot be kept Google is told to come again, and then each is one run', async (t) => {
  const pushed = await createPushed(t)
  const { google } = pushed
  google.fail('gmail.users.history.list', { status: 500 }, { status: 500 })
  const ids = google.deliverMany(3)
  await until(async () => ((await runsOf(pushed)).length === 3 ? true : undefined), 'the runs')
  google.advance(60_000)
  google.notifyAgain()
  await google.until(() => google.unacknowledged === 0)
  assert.deepEqual((await runsOf(pushed)).sort(), ids.map((id) => `hook:gmail:${id}`).sort())
})

test('a notification that Google did not sign, or signed for somebody else, moves nothing', async (t) => {
  const pushed = await createPushed(t)
  const { google, ask, post } = pushed
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
