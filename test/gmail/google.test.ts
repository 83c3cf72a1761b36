import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credentials } from '../../plugins/gmail/google/credentials.ts'
import { createHost } from '../../plugins/gmail/google/fixture.ts'
import { openGmail } from '../../plugins/gmail/google/open.ts'
import { createFakeGoogle } from '../google/index.ts'

/** Opens Gmail as the plugin does, with the fake Google at the other end. */
async function open() {
  const fake = await createFakeGoogle({ now: Date.parse('2026-01-15T12:00:00Z') })
  const { disk, storage, fetch, signal } = createHost()
  const clock = { now: fake.now, sleep: () => Promise.reject(new Error('nothing here sleeps')) }
  const credentials = fake.credentials() as Credentials
  const gmail = openGmail({ credentials, storage, baseUrls: fake.baseUrls, fetch, clock })
  return { fake, disk, gmail, signal, [Symbol.asyncDispose]: fake.close }
}

test('mail is found in the history, fetched and listed', async () => {
  await using bed = await open()
  const { fake, gmail, signal, disk } = bed
  const { emailAddress, historyId: since } = await gmail.profile(signal)
  assert.equal(emailAddress, fake.account)
  assert.ok((await gmail.labels(signal)).some(({ id, name }) => id === 'INBOX' && name === 'INBOX'))

  const ids = fake.deliverMany(3, (index) => ({ subject: `Mail ${index}`, text: `Text ${index}` }))
  fake.deliver({ labels: ['SPAM'] })
  const page = await gmail.history({ since, labelId: 'INBOX' }, signal)
  assert.deepEqual(page.messageIds, ids)
  const rest = await gmail.history({ since: page.lastId ?? '', labelId: 'INBOX' }, signal)
  assert.deepEqual([rest.messageIds, rest.lastId], [[], undefined])

  const [id = ''] = ids
  const full = await gmail.message(id, { text: true }, signal)
  const lean = await gmail.message(id, { text: false }, signal)
  assert.match(JSON.stringify(full), new RegExp(Buffer.from('Text 0').toString('base64url').slice(0, 7)))
  assert.deepEqual([lean?.snippet, lean?.payload?.body?.data], [full?.snippet, undefined])
  fake.remove(id)
  assert.equal(await gmail.message(id, { text: true }, signal), undefined)

  const listed = await gmail.list({ labelId: 'INBOX', after: fake.now() - 1000, max: 1 }, signal)
  assert.deepEqual(listed.messageIds, [ids[2]])
  assert.ok(listed.nextPageToken)
  const request = { labelId: 'INBOX', after: fake.now() - 1000, max: 9, pageToken: listed.nextPageToken }
  assert.deepEqual((await gmail.list(request, signal)).messageIds, [ids[1]])

  assert.equal(fake.callsOf('oauth.token').length, 1)
  assert.ok((disk.get('credentials') as Credentials).accessToken)
  assert.deepEqual(fake.mistakes, [])
})
