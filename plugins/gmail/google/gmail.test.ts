import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, gmailError, openScripted, type Step } from './fixture.ts'

const message = 'GET /gmail/v1/users/me/messages/19bc1a2f3e4d5c6b'
const id = '19bc1a2f3e4d5c6b'
const history = 'GET /gmail/v1/users/me/history'

test('the history lists added mails in order and once each, and the largest record id', async () => {
  const added = (...ids: string[]) => ids.map((each) => ({ message: { id: each, threadId: each } }))
  const body = {
    history: [
      { id: '18446744073709551613', messages: [{ id: 'x' }], messagesAdded: added('a', 'b') },
      { id: '18446744073709551614', messagesAdded: added('b', 'c') },
      { id: '9007199254740995' },
    ],
    historyId: '18446744073709551615',
    nextPageToken: 'next',
  }
  await using google = await openScripted({ [history]: [{ body }, { body: { historyId: '5' } }] })
  const request = { since: '9007199254740992', labelId: 'Label_7' }
  assert.deepEqual(await google.gmail.history(request, google.signal), {
    messageIds: ['a', 'b', 'c'],
    lastId: '18446744073709551614',
    historyId: '18446744073709551615',
    nextPageToken: 'next',
  })
  assert.deepEqual(await google.gmail.history({ ...request, pageToken: 'next' }, google.signal), {
    messageIds: [],
    historyId: '5',
  })
  const query = {
    startHistoryId: ['9007199254740992'],
    labelId: ['Label_7'],
    historyTypes: ['messageAdded'],
    maxResults: ['500'],
  }
  assert.deepEqual(google.queries(), [query, { ...query, pageToken: ['next'] }])
})

test('an expired history is reported as such only if Google itself says so', async () => {
  await using google = await openScripted({
    [history]: [
      gmailError(404, 'notFound', 'Requested entity was not found.'),
      { status: 404, raw: '<html>' },
    ],
  })
  const request = { since: '1', labelId: 'INBOX' }
  await fails(google.gmail.history(request, google.signal), 'history-expired', false)
  await fails(google.gmail.history(request, google.signal), 'malformed', true)
})

test('a history with a malformed part is refused whole', async () => {
  const histories = [
    {},
    [null],
    [{ messagesAdded: [] }],
    [{ id: '-1' }],
    [{ id: '1', messagesAdded: 'all' }],
    [{ id: '1', messagesAdded: [{}] }],
    [{ id: '1', messagesAdded: [{ message: { id: 7 } }] }],
    [{ id: '1', messagesAdded: [{ message: { id: '../labels' } }] }],
  ]
  const bodies = histories.map((each) => ({ history: each, historyId: '1' }))
  for (const body of [{}, { history: [], historyId: '1', nextPageToken: 2 }, ...bodies]) {
    await using google = await openScripted({ [history]: [{ body }] })
    const asked = google.gmail.history({ since: '1', labelId: 'INBOX' }, google.signal)
    await fails(asked, 'malformed', true, JSON.stringify(body))
  }
})

test('a mail is fetched whole, or with its headers alone', async () => {
  const raw = { id, threadId: id, snippet: 'Hi', internalDate: '1768478385000', payload: {} }
  await using google = await openScripted({ [message]: [{ body: raw }] })
  assert.deepEqual(await google.gmail.message(id, { text: true }, google.signal), raw)
  assert.deepEqual(await google.gmail.message(id, { text: false }, google.signal), raw)
  assert.deepEqual(google.queries(), [
    { format: ['full'] },
    { format: ['metadata'], metadataHeaders: ['From', 'To', 'Subject', 'Date'] },
  ])
})

test('a deleted mail is undefined, and a mail with another id is refused', async () => {
  const steps: Step[] = [
    gmailError(404, 'notFound', 'Requested entity was not found.'),
    { status: 404, raw: '<html>' },
    { body: { id: 'another' } },
    { body: {} },
  ]
  await using google = await openScripted({ [message]: steps })
  assert.equal(await google.gmail.message(id, { text: true }, google.signal), undefined)
  for (const _ of [1, 2, 3])
    await fails(google.gmail.message(id, { text: true }, google.signal), 'malformed', true)
})

test('a mail above the size limit is fetched without its text', async () => {
  const long = { raw: `{"id": "${id}", "payload": "${'x'.repeat(17 * 1_048_576)}"}` }
  const short = { id, snippet: 'A long log' }
  await using google = await openScripted({ [message]: [long, long, { body: short }] })
  assert.deepEqual(await google.gmail.message(id, { text: true }, google.signal), short)
  const formats = google.queries().map(({ format }) => format)
  assert.deepEqual(formats, [['full'], ['full'], ['metadata']])
})

test('long mails are fetched one at a time', async () => {
  const gate = Promise.withResolvers<void>()
  const payload = 'x'.repeat(3 * 1_048_576)
  const ids = ['one', 'two']
  const steps = (id: string) => [{ body: { id, payload } }, { body: { id, payload }, after: gate.promise }]
  await using google = await openScripted({
    ...Object.fromEntries(ids.map((id) => [message.replace(/[^/]+$/, id), steps(id)])),
    'GET /gmail/v1/users/me/labels': [{ body: {} }],
  })
  const { gmail, signal } = google
  const both = Promise.all(ids.map((id) => gmail.message(id, { text: true }, signal)))
  await google.reached(3)
  for (let looks = 0; looks < 3; looks += 1) await gmail.labels(signal)
  assert.equal(google.calls.length, 3 + 3)
  gate.resolve()
  const fetched = (await both).map((mail) => mail?.id)
  assert.deepEqual(fetched, ids)
})

test('a page that names itself as the next page is refused', async () => {
  await using google = await openScripted({
    [history]: [{ body: { historyId: '7', nextPageToken: 'again' } }],
    'GET /gmail/v1/users/me/messages': [{ body: { nextPageToken: 'again' } }],
  })
  const { gmail, signal } = google
  const since = { since: '1', labelId: 'INBOX' }
  const { nextPageToken = '' } = await gmail.history(since, signal)
  const list = { labelId: 'INBOX', after: 0, max: 500 }
  for (const page of [
    gmail.history({ ...since, pageToken: nextPageToken }, signal),
    gmail.list({ ...list, pageToken: nextPageToken }, signal),
  ])
    await fails(page, 'malformed', true)
})

test('a listing asks from one second earlier, and for no more mails than are wanted', async () => {
  const body = { messages: [{ id: 'b', threadId: 'a' }, { id: 'a' }], nextPageToken: 'next' }
  await using google = await openScripted({ 'GET /gmail/v1/users/me/messages': [{ body }, { body: {} }] })
  const after = Date.parse('2026-01-15T12:00:00.900Z')
  const page = await google.gmail.list({ labelId: 'INBOX', after, max: 200 }, google.signal)
  assert.deepEqual(page, { messageIds: ['b', 'a'], nextPageToken: 'next' })
  const request = { labelId: 'INBOX', after: 0, max: 9999, pageToken: 'next' }
  assert.deepEqual(await google.gmail.list(request, google.signal), { messageIds: [] })
  const query = { labelIds: ['INBOX'], includeSpamTrash: ['true'] }
  assert.deepEqual(google.queries(), [
    { ...query, q: ['after:1768478399'], maxResults: ['200'] },
    { ...query, q: ['after:0'], maxResults: ['500'], pageToken: ['next'] },
  ])
})
