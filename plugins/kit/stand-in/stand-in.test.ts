import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStandIn, type StandIn } from './index.ts'

/** One that stores what it is sent. */
async function open() {
  const stored: string[] = []
  const standIn = await openStandIn({
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
  return { ...standIn, stored, [Symbol.asyncDispose]: standIn.close }
}

function send({ url }: StandIn, text = 'x', signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/send`, { method: 'POST', body: text, signal: signal ?? null })
}

test('a request comes as it was sent, and is kept', async () => {
  await using standIn = await open()
  const headers = { 'X-Type': 'letter' }
  const response = await fetch(`${standIn.url}/a%20b?q=%C3%BC`, { method: 'PUT', body: '{"one":1}', headers })
  assert.deepEqual([response.status, response.headers.get('x-method')], [201, 'PUT'])
  assert.deepEqual(await response.json(), { path: '/a b', q: 'ü', type: 'letter', json: { one: 1 } })
  assert.deepEqual(
    standIn.requests.map(({ path }) => path),
    ['/a b'],
  )
})

test('faults befall sends in the order of the script, and each but one', async () => {
  await using standIn = await open()
  standIn.script(
    { kind: 'answer', answer: { status: 429 } },
    { kind: 'answer-after', answer: { status: 500, body: 'Oh.' } },
  )
  assert.equal((await fetch(`${standIn.url}/other`)).status, 201)
  const statuses = []
  for (const text of ['first', 'second', 'third']) statuses.push((await send(standIn, text)).status)
  assert.deepEqual(statuses, [429, 500, 201])
  assert.deepEqual(standIn.stored, ['second', 'third'])
})

test('a standing fault befalls every send until it is ended', async () => {
  await using standIn = await open()
  standIn.always({ kind: 'answer', answer: { status: 503 } })
  assert.deepEqual([(await send(standIn)).status, (await send(standIn)).status], [503, 503])
  standIn.always(undefined)
  assert.equal((await send(standIn)).status, 201)
})

test('a cut falls before or after the message is stored, or into the answer', async () => {
  await using standIn = await open()
  standIn.script({ kind: 'cut-before' }, { kind: 'cut-after' }, { kind: 'cut-answer' })
  await assert.rejects(send(standIn, 'before'))
  await assert.rejects(send(standIn, 'after'))
  const half = await send(standIn, 'half')
  assert.equal(half.status, 201)
  await assert.rejects(half.text())
  assert.deepEqual(standIn.stored, ['after', 'half'])
})

test('a request that hangs can be awaited, and so can the end of it', async () => {
  await using standIn = await open()
  for (const kind of ['hang-before', 'hang-after'] as const) {
    standIn.script({ kind })
    const abort = new AbortController()
    const sending = assert.rejects(send(standIn, kind, abort.signal), /enough/)
    await standIn.untilHanging()
    abort.abort(new Error('enough'))
    await sending
    await standIn.untilIdle()
  }
  assert.deepEqual(standIn.stored, ['hang-after'])
})

test('closing it ends what hangs, and may be asked twice', async () => {
  const standIn = await open()
  standIn.always({ kind: 'hang-before' })
  const sending = assert.rejects(send(standIn))
  await standIn.untilHanging()
  await Promise.all([standIn.close(), standIn.close(), sending])
  await standIn.close()
})
