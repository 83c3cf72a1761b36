import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credentials } from '../../plugins/gmail/google/credentials.ts'
import { createHost } from '../../plugins/gmail/google/fixture.ts'
import { openGoogle } from '../../plugins/gmail/google/open.ts'
import { createFakeGoogle } from '../google/index.ts'

/** Opens Google as the plugin does, with the fake Google at the other end. */
async function open() {
  const fake = await createFakeGoogle({ now: Date.parse('2026-01-15T12:00:00Z'), pullWait: 20 })
  const { disk, storage, fetch, signal } = createHost()
  const clock = { now: fake.now, sleep: () => Promise.reject(new Error('nothing here sleeps')) }
  const credentials = fake.credentials() as Credentials
  const google = openGoogle({ credentials, storage, baseUrls: fake.baseUrls, fetch, clock })
  return { fake, disk, ...google, signal, [Symbol.asyncDispose]: fake.close }
}

test('mail is watched, announced, found in the history, fetched and acknowledged', async () => {
  await using bed = await open()
  const { fake, gmail, pubsub, signal, disk } = bed
  const { topic, subscription } = fake.prepare()
  assert.equal((await gmail.profile(signal)).emailAddress, fake.account)
  assert.ok((await gmail.labels(signal)).some(({ id, name }) => id === 'INBOX' && name === 'INBOX'))
  const { historyId: since, endsAt } = await gmail.watch({ topic, labelId: 'INBOX' }, signal)
  assert.equal(endsAt, fake.watch?.endsAt)

  const ids = fake.deliverMany(3, (index) => ({ subject: `Mail ${index}`, text: `Text ${index}` }))
  fake.deliver({ labels: ['SPAM'] })
  const notifications = await pubsub.pull(subscription, 10, signal)
  assert.ok(notifications.every(({ ackId, about }) => ackId && about?.emailAddress === fake.account))
  const page = await gmail.history({ since, labelId: 'INBOX' }, signal)
  assert.deepEqual(page.messageIds, ids)
  const historyIds = notifications.map(({ about }) => BigInt(about?.historyId ?? 0))
  assert.ok(historyIds.every((each) => each >= BigInt(since) && each <= BigInt(page.historyId)))
  const rest = await gmail.history({ since: page.lastId ?? '', labelId: 'INBOX' }, signal)
  assert.deepEqual([rest.messageIds, rest.lastId], [[], undefined])

  const ackIds = notifications.flatMap(({ ackId }) => ackId ?? [])
  await pubsub.extend(subscription, ackIds, 120, signal)
  await pubsub.acknowledge(subscription, ackIds, signal)
  // Google refuses an empty list.
  await pubsub.extend(subscription, [], 120, signal)
  await pubsub.acknowledge(subscription, [], signal)
  assert.equal(fake.unacknowledged, 0)
  assert.deepEqual(await pubsub.pull(subscription, 10, signal), [])

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
