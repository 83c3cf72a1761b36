import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf, gmailError, openScripted, type Step } from './fixture.ts'

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
  assert.deepEqual(
    google.calls.map((call) => call.query),
    [query, { ...query, pageToken: ['next'] }],
  )
})

test('an expired history is reported as such only if Google itself says so', async () => {
  await using google = await openScripted({
    [history]: [
      gmailError(404, 'notFound', 'Requested entity was not found.'),
      { status: 404, raw: '<html>' },
    ],
  })
  const request = { since: '1', labelId: 'INBOX' }
  const expired = await failureOf(google.gmail.history(request, google.signal))
  assert.deepEqual([expired.code, expired.retryable], ['history-expired', false])
  assert.equal((await failureOf(google.gmail.history(request, google.signal))).code, 'malformed')
})

test('a history with a malformed part is refused whole', async () => {
  const bodies = [
    {},
    { history: {}, historyId: '1' },
    { history: [null], historyId: '1' },
    { history: [{ messagesAdded: [] }], historyId: '1' },
    { history: [{ id: '-1' }], historyId: '1' },
    { history: [{ id: '1', messagesAdded: 'all' }], historyId: '1' },
    { history: [{ id: '1', messagesAdded: [{}] }], historyId: '1' },
    { history: [{ id: '1', messagesAdded: [{ message: { id: 7 } }] }], historyId: '1' },
    { history: [{ id: '1', messagesAdded: [{ message: { id: '../labels' } }] }], historyId: '1' },
    { history: [], historyId: '1', nextPageToken: 2 },
  ]
  for (const body of bodies) {
    await using google = await openScripted({ [history]: [{ body }] })
    const failure = await failureOf(google.gmail.history({ since: '1', labelId: 'INBOX' }, google.signal))
    assert.deepEqual([failure.code, failure.retryable], ['malformed', true], JSON.stringify(body))
  }
})

test('a mail is fetched whole, or with its headers alone', async () => {
  const raw = {
    id,
    threadId: id,
    labelIds: ['INBOX'],
    snippet: 'Hi',
    internalDate: '1768478385000',
    payload: {},
  }
  await using google = await openScripted({ [message]: [{ body: raw }] })
  assert.deepEqual(await google.gmail.message(id, { text: true }, google.signal), raw)
  assert.deepEqual(await google.gmail.message(id, { text: false }, google.signal), raw)
  assert.deepEqual(
    google.calls.map((call) => call.query),
    [{ format: ['full'] }, { format: ['metadata'], metadataHeaders: ['From', 'To', 'Subject', 'Date'] }],
  )
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
  for (const _ of [1, 2, 3]) {
    assert.equal((await failureOf(google.gmail.message(id, { text: true }, google.signal))).code, 'malformed')
  }
})

test('a mail above the size limit is fetched without its text', async () => {
  const long = { raw: `{"id": "${id}", "payload": "${'x'.repeat(17 * 1_048_576)}"}` }
  const short = { id, snippet: 'A long log' }
  await using google = await openScripted({ [message]: [long, long, { body: short }] })
  assert.deepEqual(await google.gmail.message(id, { text: true }, google.signal), short)
  assert.deepEqual(
    google.calls.map((call) => call.query['format']),
    [['full'], ['full'], ['metadata']],
  )
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
  assert.deepEqual(
    (await both).map((mail) => mail?.id),
    ids,
  )
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
  ]) {
    const { code, retryable } = await failureOf(page)
    assert.deepEqual([code, retryable], ['malformed', true])
  }
})

test('a listing asks from one second earlier, and for no more mails than are wanted', async () => {
  const body = {
    messages: [{ id: 'b', threadId: 'a' }, { id: 'a' }],
    nextPageToken: 'next',
    resultSizeEstimate: 2,
  }
  await using google = await openScripted({ 'GET /gmail/v1/users/me/messages': [{ body }, { body: {} }] })
  const after = Date.parse('2026-01-15T12:00:00.900Z')
  const page = await google.gmail.list({ labelId: 'INBOX', after, max: 200 }, google.signal)
  assert.deepEqual(page, { messageIds: ['b', 'a'], nextPageToken: 'next' })
  const request = { labelId: 'INBOX', after: 0, max: 9999, pageToken: 'next' }
  assert.deepEqual(await google.gmail.list(request, google.signal), { messageIds: [] })
  assert.deepEqual(
    google.calls.map((call) => call.query),
    [
      { labelIds: ['INBOX'], q: ['after:1768478399'], includeSpamTrash: ['true'], maxResults: ['200'] },
      {
        labelIds: ['INBOX'],
        q: ['after:0'],
        includeSpamTrash: ['true'],
        maxResults: ['500'],
        pageToken: ['next'],
      },
    ],
  )
})

test('the path of a base URL is kept', async () => {
  const step = { body: { emailAddress: 'ada@example.com', historyId: '1' } }
  await using other = await openScripted({ 'GET /emulator/gmail/v1/users/me/profile': [step] })
  await using google = await openScripted({}, { baseUrls: { gmail: `${other.url}/emulator` } })
  assert.equal((await google.gmail.profile(google.signal)).historyId, '1')
})
