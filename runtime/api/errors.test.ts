import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { backgroundTimers, createMask } from '@reveille/engine'
import Fastify from 'fastify'
import { StoreError } from '../store/port.ts'
import { type AdminOptions, registerAdminSurface } from './index.ts'

const token = 'gateway-token'

/** An admin surface on a store whose every read fails. */
async function openOn(t: TestContext, error: Error) {
  const app = Fastify()
  t.after(() => app.close())
  const lines: object[] = []
  const fail = async () => {
    throw error
  }
  registerAdminSurface(app, {
    mask: createMask(),
    issues: { list: fail },
    current: () => ({
      snapshot: {
        settings: { gateway: { tokens: [token], holders: [{ name: 'owner', may: 'configure' }] } },
      },
    }),
    store: { read: { runs: fail, run: fail } },
    mintId: () => 'minted',
    log: { info() {}, error: (facts: object) => lines.push(facts) },
    timers: backgroundTimers,
    reloader: { subscribe() {} },
  } as unknown as AdminOptions)
  const ask = async (url: string) => {
    const { statusCode, headers, payload } = await app.inject({ url, headers: { 'x-gateway-token': token } })
    return { status: statusCode, retryAfter: headers['retry-after'], text: payload }
  }
  return { ask, lines }
}

test('an unexpected error is answered 500 with the request id of its log line', async (t) => {
  const { ask, lines } = await openOn(t, new TypeError('cannot read CANARY of undefined'))
  for (const url of ['/api/runs', '/api/runs/x']) {
    const { status, text } = await ask(url)
    const { error, ...rest } = JSON.parse(text)
    assert.deepEqual({ status, ...rest }, { status: 500, ok: false, code: 'INTERNAL', requestId: 'minted' })
    assert.match(error, /request id/)
  }
  assert.equal(lines.length, 2)
  assert.match(
    JSON.stringify(lines[0]),
    /"event":"api-failed","requestId":"minted".*TypeError.*errors\.test\.ts/,
  )
  assert.doesNotMatch(JSON.stringify(lines), /CANARY/, 'the message of an error may quote what it met')
})

test('a store that cannot be read is answered 503 with Retry-After, and the log has the cause', async (t) => {
  const { ask, lines } = await openOn(t, new StoreError('STORE_UNAVAILABLE', 'the reader stopped'))
  const { status, retryAfter, text } = await ask('/api/runs')
  assert.deepEqual([status, retryAfter, JSON.parse(text).code], [503, '5', 'STORE_UNAVAILABLE'])
  assert.doesNotMatch(text, /reader/)
  assert.match(JSON.stringify(lines), /the reader stopped/)
})

test('a request that fails because the gateway closes is not logged as an error', async (t) => {
  const { ask, lines } = await openOn(t, new StoreError('DRAINING', 'the store is closed'))
  const { status, text } = await ask('/api/runs')
  assert.deepEqual([status, JSON.parse(text).code], [503, 'DRAINING'])
  assert.deepEqual(lines, [])
})
