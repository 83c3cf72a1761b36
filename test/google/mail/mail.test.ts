import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asking, openAsking, start } from '../client.ts'

const users = 'gmail/gmail/v1/users/me'

async function historyOf({ ask }: Asking, query: Readonly<Record<string, string | readonly string[]>>) {
  const { status, body } = await ask(`${users}/history`, { query })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

async function standing({ ask }: Asking): Promise<string> {
  return (await ask(`${users}/profile`)).body.historyId
}

test('the history has each change once, in order, with ids that grow by gaps', async () => {
  await using asking = await openAsking()
  const { google } = asking
  const since = await standing(asking)
  assert.deepEqual(await historyOf(asking, { startHistoryId: since }), { historyId: since })
  const id = google.deliver()
  google.relabel(id, { add: ['STARRED', 'INBOX'], remove: ['UNREAD', 'SPAM'] })
  google.remove(id)
  const { history, historyId } = await historyOf(asking, { startHistoryId: since })
  const message = { id, threadId: id }
  assert.deepEqual(
    history.map(({ id: _, messages: __, ...change }: Record<string, unknown>) => change),
    [
      { messagesAdded: [{ message: { ...message, labelIds: ['INBOX', 'UNREAD'] } }] },
      {
        labelsAdded: [
          { message: { ...message, labelIds: ['INBOX', 'UNREAD', 'STARRED'] }, labelIds: ['STARRED'] },
        ],
      },
      { labelsRemoved: [{ message: { ...message, labelIds: ['INBOX', 'STARRED'] }, labelIds: ['UNREAD'] }] },
      { messagesDeleted: [{ message: { ...message, labelIds: ['INBOX', 'STARRED'] } }] },
    ],
  )
  const ids = history.map((record: { id: string }) => Number(record.id))
  assert.ok(ids.every((each: number, index: number) => each > (ids[index - 1] ?? Number(since)) + 1))
  assert.equal(historyId, String(ids.at(-1)))
  assert.equal((await historyOf(asking, { startHistoryId: String(ids[2]) })).history.length, 1)
})

test('the history is filtered by label and type, and pages before the last one may be empty', async () => {
  await using asking = await openAsking()
  const { google } = asking
  const startHistoryId = await standing(asking)
  const spam = google.deliverMany(3, () => ({ labels: ['SPAM'] }))
  const [wanted = ''] = google.deliverMany(1)
  google.relabel(spam[0] ?? '', { add: ['INBOX'] })
  const query = { startHistoryId, labelId: 'INBOX', maxResults: '2' }
  const first = await historyOf(asking, query)
  assert.equal(first.history, undefined)
  const second = await historyOf(asking, { ...query, pageToken: first.nextPageToken })
  assert.equal(second.history[0].messagesAdded[0].message.id, wanted)
  const third = await historyOf(asking, { ...query, pageToken: second.nextPageToken })
  assert.equal(third.history[0].labelsAdded[0].message.id, spam[0])
  assert.equal(third.nextPageToken, undefined)
  const added = await historyOf(asking, { startHistoryId, labelId: 'INBOX', historyTypes: ['messageAdded'] })
  assert.equal(added.history.length, 1)
})

test('a page has a hundred records by default, and none is missing or repeated', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  const startHistoryId = await standing(asking)
  const ids = google.deliverMany(201)
  const found: string[] = []
  let pageToken: string | undefined
  let pages = 0
  do {
    const page = await historyOf(
      asking,
      pageToken === undefined ? { startHistoryId } : { startHistoryId, pageToken },
    )
    found.push(...page.history.map(({ messages }: { messages: { id: string }[] }) => messages[0]?.id))
    pageToken = page.nextPageToken
    pages += 1
    // Mails that come meanwhile are on a later page.
    if (pages === 1) found.unshift(google.deliver())
  } while (pageToken !== undefined)
  assert.equal(pages, 3)
  assert.deepEqual(found.slice(1), [...ids, found[0]])
  for (const [name, value] of [
    ['maxResults', '501'],
    ['maxResults', '0'],
    ['pageToken', 'x'],
  ] as const) {
    const { status } = await ask(`${users}/history`, { query: { startHistoryId, [name]: value } })
    assert.equal(status, 400, `${name}=${value}`)
  }
})

test('a history id that is too old, or in the future, is not found', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  const since = await standing(asking)
  google.deliver()
  google.expireHistory()
  for (const startHistoryId of [since, '1', '99999999999']) {
    const { status, body } = await ask(`${users}/history`, { query: { startHistoryId } })
    assert.deepEqual([status, body.error.errors[0].reason], [404, 'notFound'])
  }
  assert.deepEqual(google.mistakes, [])
  await historyOf(asking, { startHistoryId: await standing(asking) })
})

test('a mail is returned in each format as Gmail does', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  const id = google.deliver({
    from: 'Gräce <g@example.com>',
    subject: 'Hé',
    html: '<p>Tea &amp; <b>cake</b></p>',
    labels: [],
  })
  const get = async (query = {}) => (await ask(`${users}/messages/${id}`, { query })).body
  const minimal = await get({ format: 'minimal' })
  assert.deepEqual(Object.keys(minimal), [
    'id',
    'threadId',
    'snippet',
    'sizeEstimate',
    'historyId',
    'internalDate',
  ])
  assert.equal(minimal.internalDate, String(start))
  const metadata = await get({ format: 'metadata' })
  assert.deepEqual(Object.keys(metadata.payload), ['partId', 'mimeType', 'filename', 'headers'])
  const full = await get()
  assert.equal(full.payload.mimeType, 'text/html')
  assert.equal(Buffer.from(full.payload.body.data, 'base64url').toString(), '<p>Tea &amp; <b>cake</b></p>')
  assert.deepEqual(
    full.payload.headers.find(({ name }: { name: string }) => name === 'Date').value,
    'Fri, 02 Jan 2026 09:00:00 +0000',
  )
  const raw = Buffer.from((await get({ format: 'raw' })).raw, 'base64url').toString()
  assert.match(raw, /^Delivered-To: ada@example\.com\r\n(.*\r\n)*Subject: Hé\r\n(.*\r\n)*\r\n<p>Tea/)
  const payload = { mimeType: 'image/png', parts: 'none' }
  const odd = google.deliver({ payload })
  assert.deepEqual((await ask(`${users}/messages/${odd}`)).body.payload, payload)
  google.remove(id)
  assert.equal((await ask(`${users}/messages/${id}`)).status, 404)
  assert.deepEqual(google.mistakes, [])
})

test('mails are listed newest first, without spam and trash, by label and time', async () => {
  await using asking = await openAsking()
  const { google, ask } = asking
  const list = async (query: Readonly<Record<string, string | readonly string[]>>) => {
    const { status, body } = await ask(`${users}/messages`, { query })
    assert.equal(status, 200, JSON.stringify(body))
    return (body.messages ?? []).map(({ id }: { id: string }) => id)
  }
  const old = google.deliver()
  google.advance(10_000)
  const trash = google.deliver({ labels: ['TRASH', 'INBOX'] })
  const sent = google.deliver({ labels: ['SENT'] })
  const fresh = google.deliver({ labels: ['INBOX', google.addLabel('Reveille')] })
  const second = Math.floor(start / 1000)
  assert.deepEqual(await list({}), [fresh, sent, old])
  assert.deepEqual(await list({ includeSpamTrash: 'true', labelIds: 'INBOX' }), [fresh, trash, old])
  assert.deepEqual(await list({ labelIds: ['INBOX', 'UNREAD'] }), [old])
  assert.deepEqual(await list({ q: `after:${second + 1}` }), [fresh, sent])
  assert.deepEqual(await list({ q: `after:${second} before:${second + 1}` }), [old])
  assert.deepEqual(await list({ q: 'in:inbox -is:unread' }), [fresh])
  const page = await ask(`${users}/messages`, { query: { maxResults: '2' } })
  assert.deepEqual(await list({ maxResults: '2', pageToken: page.body.nextPageToken }), [old])
  assert.equal((await ask(`${users}/messages`, { query: { q: 'from:grace' } })).status, 501)
  assert.equal((await ask(`${users}/messages`, { query: { labelIds: 'Label_99' } })).status, 400)
})

test("system labels and the person's own labels are listed", async () => {
  await using asking = await openAsking()
  const id = asking.google.addLabel('To do')
  const { body } = await asking.ask(`${users}/labels`)
  assert.deepEqual(body.labels.at(-1), { id, name: 'To do', type: 'user' })
  assert.ok(body.labels.some((label: { id: string }) => label.id === 'INBOX'))
  assert.throws(() => asking.google.deliver({ labels: ['To do'] }), /no label To do/)
})

test("a watch needs an existing topic of the client's project to which Gmail may publish", async () => {
  await using asking = await openAsking()
  const { google, ask, topic } = asking
  const watch = async (topicName: string, more = {}) => {
    const { status, body } = await ask(`${users}/watch`, { body: { topicName, ...more } })
    return [status, body.error?.message]
  }
  const { project } = google
  assert.deepEqual(await watch('projects/other/topics/t'), [
    400,
    `Invalid topicName does not match projects/${project}/topics/*`,
  ])
  assert.deepEqual(await watch(topic, { labelIds: ['Label_99'] }), [400, 'Invalid label: Label_99'])
  assert.equal(google.mistakes.length, 2)
  const failed = 'Error sending test message to Cloud PubSub'
  const none = `projects/${project}/topics/none`
  assert.deepEqual(await watch(none), [404, `${failed} ${none} : Resource not found (resource=none).`])
  google.setRole({ isGranted: false })
  assert.deepEqual(await watch(topic), [
    403,
    `${failed} ${topic} : User not authorized to perform this action.`,
  ])
  google.setRole({ isGranted: true })
  assert.deepEqual(await watch(topic), [200, undefined])
  assert.deepEqual(google.watch, { topic, labelIds: [], endsAt: start + 7 * 86_400_000 })
  assert.equal(google.mistakes.length, 2, 'the state of a project is no mistake of the caller')
})

test('a watch for another topic needs a stop first, until the earlier watch is over', async () => {
  await using asking = await openAsking()
  const { google, ask, topic } = asking
  const other = `projects/${google.project}/topics/other`
  await ask(`pubsub/v1/${other}`, { method: 'PUT', body: {} })
  google.setRole({ isGranted: true })
  const watch = async (topicName: string) => (await ask(`${users}/watch`, { body: { topicName } })).status
  assert.deepEqual([await watch(topic), await watch(topic), await watch(other)], [200, 200, 400])
  await ask(`${users}/stop`, { method: 'POST' })
  assert.equal(google.watch, undefined)
  assert.equal(await watch(other), 200)
  google.advance(7 * 86_400_000)
  assert.equal(google.watch, undefined)
  await asking.renew()
  assert.equal(await watch(topic), 200)
  assert.deepEqual(google.mistakes, [])
})

test('a watch announces mails with its labels, from its beginning to its end', async () => {
  await using asking = await openAsking()
  const { google, ask, topic } = asking
  const watch = (body: object) => ask(`${users}/watch`, { body: { topicName: topic, ...body } })
  await watch({ labelIds: ['INBOX'] })
  assert.equal(google.unacknowledged, 1)
  google.deliver({ labels: ['SENT'] })
  assert.equal(google.unacknowledged, 1)
  const id = google.deliver()
  google.relabel(id, { remove: ['INBOX'] })
  assert.equal(google.unacknowledged, 3, 'the label goes, which is a change of it')
  google.relabel(id, { remove: ['UNREAD'] })
  assert.equal(google.unacknowledged, 3)
  await watch({ labelIds: ['INBOX'], labelFilterBehavior: 'exclude' })
  google.deliver()
  assert.equal(google.unacknowledged, 4)
  google.deliver({ labels: ['SENT'] })
  assert.equal(google.unacknowledged, 5)
  google.loseNotifications(1)
  google.deliver({ labels: ['SENT'] })
  assert.equal(google.unacknowledged, 5)
  google.advance(7 * 86_400_000)
  google.deliver({ labels: ['SENT'] })
  assert.equal(google.unacknowledged, 5)
})
