import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gmail } from '@googleapis/gmail'
import { OAuth2Client } from 'google-auth-library'
import { createFakeGoogle, type FakeGoogle } from './index.ts'

async function open() {
  const google = await createFakeGoogle({ now: Date.now() })
  return { google, ...clientOf(google), [Symbol.asyncDispose]: google.close }
}

/** Google's own client, set up as its documentation shows. */
function clientOf(google: FakeGoogle) {
  const { baseUrls } = google
  const { clientId, clientSecret, refreshToken } = google.credentials() as Record<string, string>
  const auth = new OAuth2Client({
    clientId,
    clientSecret,
    endpoints: { oauth2TokenUrl: `${baseUrls.oauth}/token`, oauth2RevokeUrl: `${baseUrls.oauth}/revoke` },
  })
  auth.setCredentials({ refresh_token: refreshToken })
  const { users } = gmail({ version: 'v1', auth })
  /** The root URL is set for each call, because the client drops the path of one that is set for all. */
  const at = { rootUrl: `${baseUrls.gmail}/`, retry: false }
  return { users, at }
}

test("Google's own client reads profile, history and mails without a refused request", async () => {
  await using opened = await open()
  const { google, users, at } = opened
  const profile = await users.getProfile({ userId: 'me' }, at)
  const since = profile.data.historyId ?? ''
  const id = google.deliver({ subject: 'Lunch?', text: 'At noon & on time' })
  const history = await users.history.list(
    { userId: 'me', startHistoryId: since, labelId: 'INBOX', historyTypes: ['messageAdded'] },
    at,
  )
  assert.deepEqual(
    history.data.history?.map(({ messagesAdded }) => messagesAdded?.map(({ message }) => message?.id)),
    [[id]],
  )
  assert.ok(BigInt(history.data.historyId ?? 0) > BigInt(since))

  const mail = await users.messages.get({ userId: 'me', id, format: 'full' }, at)
  const { mimeType, body } = mail.data.payload ?? {}
  const text = Buffer.from(body?.data ?? '', 'base64url').toString()
  assert.deepEqual([mimeType, text], ['text/plain', 'At noon & on time'])
  assert.equal(mail.data.snippet, 'At noon &amp; on time')
  const head = await users.messages.get(
    { userId: 'me', id, format: 'metadata', metadataHeaders: ['Subject', 'From'] },
    at,
  )
  assert.deepEqual(head.data.payload?.headers, [
    { name: 'Subject', value: 'Lunch?' },
    { name: 'From', value: 'Grace <grace@example.com>' },
  ])
  const after = Math.floor(google.now() / 1000)
  const listed = await users.messages.list(
    { userId: 'me', labelIds: ['INBOX'], q: `after:${after}`, maxResults: 5 },
    at,
  )
  assert.deepEqual(listed.data.messages, [{ id, threadId: id }])
  assert.deepEqual(google.mistakes, [])
})
