import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeGoogle } from './index.ts'

const mailbox = 'gmail/gmail/v1/users/me'
/** The client's mistake, the request, and its body. `auth` replaces the good token. */
const wrong: readonly (readonly [what: string, request: string, body?: unknown, auth?: string])[] = [
  ['a path', `GET ${mailbox}/mails`],
  ['a method', `POST ${mailbox}/profile`],
  ['no token', `GET ${mailbox}/profile`, undefined, ''],
  ['a token that nobody gave', `GET ${mailbox}/profile`, undefined, 'Bearer ya29.void'],
  ['a mailbox', 'GET gmail/gmail/v1/users/grace@example.com/profile'],
  ['an unknown parameter', `GET ${mailbox}/history?startHistoryId=1204551&since=1`],
  ['a required parameter', `GET ${mailbox}/history`],
  ['a number', `GET ${mailbox}/history?startHistoryId=1204551&maxResults=many`],
  ['a size', `GET ${mailbox}/history?startHistoryId=1204551&maxResults=501`],
  ['a word', `GET ${mailbox}/history?startHistoryId=1204551&historyTypes=mailAdded`],
  ['a parameter twice', `GET ${mailbox}/history?startHistoryId=1204551&labelId=INBOX&labelId=SENT`],
  ['a page', `GET ${mailbox}/messages?pageToken=e30`],
  ['a label', `GET ${mailbox}/messages?labelIds=Label_99`],
  ['a search', `GET ${mailbox}/messages?q=from:grace`],
  ['a body where none belongs', `POST ${mailbox}/profile`, { now: true }],
]

test('a request with one mistake is refused and recorded', async (t) => {
  const google = await createFakeGoogle()
  t.after(() => google.close())
  const base = google.baseUrls.gmail.replace('/gmail', '')
  const { clientId, clientSecret, refreshToken } = google.credentials() as Record<string, string>
  const good = {
    grant_type: 'refresh_token',
    client_id: clientId ?? '',
    client_secret: clientSecret ?? '',
    refresh_token: refreshToken ?? '',
  }
  const submit = (form: object) =>
    fetch(`${google.baseUrls.oauth}/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...good, ...form }),
    })
  const { access_token } = (await (await submit({})).json()) as { readonly access_token: string }

  let known = 0
  function recorded(what: string, status: number): void {
    assert.ok(status >= 400 && status < 600 && status !== 599, `${what}: ${status}`)
    known += 1
    assert.equal(google.mistakes.length, known, what)
  }
  for (const [what, request, body, authorization = `Bearer ${access_token}`] of wrong) {
    const [method, path] = request.split(' ')
    const headers = { authorization, 'content-type': 'application/json' }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    recorded(what, (await fetch(`${base}/${path}`, { method, headers, body: text })).status)
  }
  for (const form of [
    { client_secret: 'x' },
    { refresh_token: 'x' },
    { more: 'x' },
    { grant_type: 'password' },
  ])
    recorded(JSON.stringify(form), (await submit(form)).status)

  const page = new URL(`${google.baseUrls.accounts}/o/oauth2/v2/auth`)
  const asked = { redirect_uri: 'http://127.0.0.1:1', response_type: 'code', client_id: clientId ?? '' }
  const scope = 'https://www.googleapis.com/auth/gmail.readonly'
  const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
  for (const query of [
    { ...asked, scope },
    { ...asked, ...pkce, scope: 'mail' },
    { ...asked, ...pkce, scope, redirect_uri: 'https://example.com' },
    { ...asked, ...pkce, scope, client_id: 'x' },
    { ...asked, ...pkce, scope, aproval: 'force' },
  ]) {
    page.search = String(new URLSearchParams(query))
    recorded(page.search, (await fetch(page)).status)
  }
})
