import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { createTraffic } from './traffic.ts'

const answer = (pieces: readonly string[], init?: ResponseInit): typeof fetch => {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
  return async () => new Response(ReadableStream.from(bytes), init)
}

test('an answer passes unchanged up to the limit', async () => {
  const traffic = createTraffic(answer(['abc', 'def'], { headers: { 'content-type': 'text/plain' } }), 6)
  assert.equal(traffic.answerType(), undefined)
  const response = await traffic.fetch('http://127.0.0.1/')
  assert.equal(await response.text(), 'abcdef')
  assert.deepEqual([response.status, traffic.answerType()], [200, 'text/plain'])
})

test('an endless answer is cut for good', async () => {
  let sent = 0
  const endless = async () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1
          controller.enqueue(new Uint8Array(1000))
        },
      }),
    )
  const response = await createTraffic(endless, 10_000).fetch('http://127.0.0.1/')
  await assert.rejects(
    response.text(),
    (error) => isPluginError(error) && error.code === 'oversized' && !error.retryable,
  )
  assert.ok(sent < 20, `${sent} pieces were taken`)
})

test('a failed answer has no content type, and one without a body passes unchanged', async () => {
  const traffic = createTraffic(async () => new Response(null, { status: 204 }))
  assert.equal((await traffic.fetch('http://127.0.0.1/')).status, 204)
  const failing = createTraffic(answer(['no'], { status: 500 }))
  assert.equal(await (await failing.fetch('http://127.0.0.1/')).text(), 'no')
  assert.equal(failing.answerType(), undefined)
})
