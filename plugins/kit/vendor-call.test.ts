import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, openFakeServer } from './fake-server/index.ts'
import { isPluginError, type PluginError } from './plugin-error.ts'
import { createPluginFetch } from './plugin-fetch.ts'
import { callVendor, type VendorCall } from './vendor-call.ts'

/** A service that answers with the request. */
async function open(...faults: readonly Fault[]) {
  const fakeServer = await openFakeServer({
    answer: ({ method, headers, text }) => ({
      status: 418,
      headers: { 'retry-after': '3' },
      body: { method, type: headers['content-type'], accepts: headers['x-own'], text },
    }),
  })
  fakeServer.script(...faults)
  const fetch = createPluginFetch({
    fetch: globalThis.fetch,
    log: { debug() {} },
    owner: {},
    signal: new AbortController().signal,
  })
  const call = (more: Partial<VendorCall> = {}) =>
    callVendor(fetch, { url: fakeServer.url, signal: new AbortController().signal, ...more })
  async function failure(more: Partial<VendorCall> = {}): Promise<PluginError> {
    const error = await call(more).catch((reason: unknown) => reason)
    assert.ok(isPluginError(error), String(error))
    return error
  }
  return { ...fakeServer, call, failure, [Symbol.asyncDispose]: fakeServer.close }
}

test('an answer is returned whatever its status is', async () => {
  await using vendor = await open()
  const { status, headers, text, json } = await vendor.call()
  assert.deepEqual([status, headers.get('retry-after')], [418, '3'])
  assert.deepEqual(json, JSON.parse(text))
})

test('an object is sent as JSON, a string and a form as they are, with the given headers', async () => {
  await using vendor = await open()
  const ask = async (more: Partial<VendorCall>) => (await vendor.call(more)).json
  const headers = { 'x-own': 'yes' }
  assert.deepEqual(await ask({ body: { one: 'ü' }, headers }), {
    method: 'POST',
    type: 'application/json; charset=utf-8',
    accepts: 'yes',
    text: '{"one":"ü"}',
  })
  assert.deepEqual(await ask({ method: 'PUT', body: 'plain', headers: { 'content-type': 'text/x-own' } }), {
    method: 'PUT',
    type: 'text/x-own',
    text: 'plain',
  })
  assert.deepEqual(await ask({ body: new URLSearchParams({ a: 'b c' }) }), {
    method: 'POST',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
    text: 'a=b+c',
  })
})

test('an answer that is not JSON is a text', async () => {
  await using vendor = await open({ kind: 'answer', answer: { status: 502, body: '<html>' } })
  const { status, text, json } = await vendor.call()
  assert.deepEqual([status, text, json], [502, '<html>', undefined])
})

test('a call that is aborted before it starts is not made', async () => {
  await using vendor = await open()
  const error = await vendor.failure({ body: {}, signal: AbortSignal.abort() })
  assert.deepEqual([error.code, error.retryable, error.maybeDelivered], ['aborted', true, false])
  assert.deepEqual(vendor.requests, [])
})

test('a deadline and an abort of the host are distinguished', async () => {
  await using vendor = await open()
  vendor.always({ kind: 'hang-before' })
  for (const [name, code] of [
    ['TimeoutError', 'timeout'],
    ['AbortError', 'aborted'],
  ] as const) {
    const abort = new AbortController()
    const failing = vendor.failure({ body: {}, signal: abort.signal })
    await vendor.untilHanging()
    abort.abort(new DOMException('Enough.', name))
    const error = await failing
    assert.deepEqual([error.code, error.retryable, error.maybeDelivered], [code, true, true])
    await vendor.untilIdle()
  }
})

test('an answer that is cut off or too long may mean that the message was delivered', async () => {
  const long = 'x'.repeat(1_048_577)
  for (const [fault, code] of [
    [{ kind: 'cut-after' }, 'network'],
    [{ kind: 'cut-answer' }, 'network'],
    [{ kind: 'answer', answer: { body: long } }, 'unavailable'],
  ] as const) {
    await using vendor = await open(fault)
    const error = await vendor.failure({ body: {} })
    assert.deepEqual([error.code, error.retryable, error.maybeDelivered], [code, true, true])
    assert.equal(error.cutOff, fault.kind === 'cut-answer')
  }
  await using vendor = await open({ kind: 'answer', answer: { body: long.slice(1) } })
  assert.equal((await vendor.call()).text.length, 1_048_576)
})

test('a call that sends no message never reports that it may have delivered one', async () => {
  for (const more of [{}, { body: {}, delivers: false }]) {
    for (const kind of ['cut-after', 'cut-answer', 'answer'] as const) {
      const answer = { body: 'x'.repeat(2 ** 21) }
      await using vendor = await open(kind === 'answer' ? { kind, answer } : { kind })
      const error = await vendor.failure(more)
      assert.deepEqual([error.retryable, error.maybeDelivered], [true, false])
    }
  }
})
