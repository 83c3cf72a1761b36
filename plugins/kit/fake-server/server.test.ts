import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FakeServer, openFakeServer } from './index.ts'

/** A channel that stores each message. */
async function open() {
  const stored: string[] = []
  const fakeServer = await openFakeServer({
    isSend: ({ path }) => path === '/send',
    answer({ method, path, query, headers, text, json }) {
      if (path === '/send') stored.push(text)
      return {
        status: 201,
        headers: { 'x-method': method },
        body: { path, q: query.get('q'), type: headers['x-type'], json },
      }
    },
  })
  return { ...fakeServer, stored, [Symbol.asyncDispose]: fakeServer.close }
}

function send({ url }: FakeServer, text = 'x', signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/send`, { method: 'POST', body: text, signal: signal ?? null })
}

test('a request arrives as it was sent, and is recorded', async () => {
  await using fakeServer = await open()
  const headers = { 'X-Type': 'letter' }
  const response = await fetch(`${fakeServer.url}/a%20b?q=%C3%BC`, {
    method: 'PUT',
    body: '{"one":1}',
    headers,
  })
  assert.deepEqual([response.status, response.headers.get('x-method')], [201, 'PUT'])
  assert.deepEqual(await response.json(), { path: '/a b', q: 'ü', type: 'letter', json: { one: 1 } })
  assert.deepEqual(
    fakeServer.requests.map(({ path }) => path),
    ['/a b'],
  )
})

test('scripted faults strike sends in order, each of them once', async () => {
  await using fakeServer = await open()
  fakeServer.script(
    { kind: 'answer', answer: { status: 429 } },
    { kind: 'answer-after', answer: { status: 500, body: 'Oh.' } },
  )
  assert.equal((await fetch(`${fakeServer.url}/other`)).status, 201)
  const statuses = []
  for (const text of ['first', 'second', 'third']) statuses.push((await send(fakeServer, text)).status)
  assert.deepEqual(statuses, [429, 500, 201])
  assert.deepEqual(fakeServer.stored, ['second', 'third'])
})

test('a permanent fault strikes every send until it is removed', async () => {
  await using fakeServer = await open()
  fakeServer.always({ kind: 'answer', answer: { status: 503 } })
  assert.deepEqual([(await send(fakeServer)).status, (await send(fakeServer)).status], [503, 503])
  fakeServer.always(undefined)
  assert.equal((await send(fakeServer)).status, 201)
})

test('a cut happens before or after the message is stored, or inside the answer', async () => {
  await using fakeServer = await open()
  fakeServer.script({ kind: 'cut-before' }, { kind: 'cut-after' }, { kind: 'cut-answer' })
  await assert.rejects(send(fakeServer, 'before'))
  await assert.rejects(send(fakeServer, 'after'))
  const half = await send(fakeServer, 'half')
  assert.equal(half.status, 201)
  await assert.rejects(half.text())
  assert.deepEqual(fakeServer.stored, ['after', 'half'])
})

test('a test can wait for a hanging request and for its end', async () => {
  await using fakeServer = await open()
  for (const kind of ['hang-before', 'hang-after'] as const) {
    fakeServer.script({ kind })
    const abort = new AbortController()
    const sending = assert.rejects(send(fakeServer, kind, abort.signal), /enough/)
    await fakeServer.untilHanging()
    abort.abort(new Error('enough'))
    await sending
    await fakeServer.untilIdle()
  }
  assert.deepEqual(fakeServer.stored, ['hang-after'])
})

test('closing the server ends hanging requests, and can be repeated', async () => {
  const fakeServer = await open()
  fakeServer.always({ kind: 'hang-before' })
  const sending = assert.rejects(send(fakeServer))
  await fakeServer.untilHanging()
  await Promise.all([fakeServer.close(), fakeServer.close(), sending])
  await fakeServer.close()
})
