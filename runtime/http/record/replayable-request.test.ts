import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decision, type HookRequest, tryRequest } from '@reveille/engine'
import type { RequestRecord } from '../../store/port.ts'
import { bearer, createSnapshot, explained, openSurface, token } from '../surface-fixture.ts'
import { trySurface } from '../try-surface.ts'
import { restoreRequest } from './replayable-request.ts'

const failure: Decision = { outcome: 'failed', code: 'TRANSFORM_FAILED', message: 'no', details: [] }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const wrapped = `payload=${encodeURIComponent('{"a": 12345678901234567890}')}`

/** As the store gives it back. */
function reread({ body, head, ...record }: RequestRecord): RequestRecord {
  return { ...JSON.parse(JSON.stringify(record)), body, head: JSON.parse(JSON.stringify(head)) }
}

interface Sent {
  readonly url?: string
  readonly body?: string
  readonly headers?: Record<string, string | string[]>
}

const requests: readonly Sent[] = [
  { body: '{"a": [1]}', headers: { 'x-github-event': 'push', 'x-twice': ['a', 'b'] } },
  { body: '{"a": 12345678901234567890}' },
  { body: '' },
  { body: 'a=1&a=2&b=%20', headers: form },
  { body: wrapped, headers: form },
  { body: '{"a": 1}', headers: form },
  { url: '/hooks/wake?x=1', body: '{"text": "hi"}' },
  { url: '/hooks/a/b?page=2&tag=a&tag=b&__proto__=x&constructor=y', body: '{}' },
  { url: `/hooks/github?token=${token}&page=2`, body: '{}', headers: { authorization: '' } },
]

test('the engine sees a restored request as it saw the original', async (t) => {
  for (const { url = '/hooks/github', body = '', headers = {} } of requests) {
    const { app, resolved, noted } = await openSurface(t, { resolve: () => failure })
    await app.inject({ method: 'POST', url, headers: { ...bearer, ...headers }, payload: body })
    await explained()
    const received = restoreRequest(reread(noted[0] ?? assert.fail(url)))
    let again: HookRequest | undefined
    const snapshot = createSnapshot({
      resolve: (request) => {
        again = request
        return failure
      },
    })
    const tried = await tryRequest(received ?? assert.fail(url), snapshot, trySurface, { dryRun: 'refuse' })
    const { id: _id, sender: _sender, ...first } = resolved[0] ?? assert.fail(url)
    const { dryRun: _dryRun, onStop: _onStop, ...restored } = again ?? assert.fail(url)
    assert.deepEqual(restored, first, url)
    assert.deepEqual([tried.status, Object.getPrototypeOf(restored.query)], [500, null])
  }
})

test('no token and no cookie is kept with a request', async (t) => {
  const canary = 'c4n4ry'
  const names = ['cookie', 'proxy-authorization', 'x-gateway-token', 'x-openclaw-token']
  const headers = Object.fromEntries(names.map((name) => [name, canary]))
  for (const allowQueryToken of [true, false]) {
    const { app, noted } = await openSurface(t, { resolve: () => failure, hooks: { allowQueryToken } })
    await app.inject({
      method: 'POST',
      url: `/hooks/github?token=${canary}&page=2`,
      headers: { ...bearer, ...headers, 'x-kept': 'yes' },
      payload: '{}',
    })
    await explained()
    const { head } = noted[0] ?? assert.fail()
    assert.doesNotMatch(JSON.stringify(head), new RegExp(`${canary}|${token}`))
    assert.deepEqual([head?.headers['x-kept'], head?.query['page']], ['yes', '2'])
  }
})

test('a request that was not kept whole cannot be restored', async (t) => {
  const { post, noted } = await openSurface(t, { resolve: () => failure })
  await post('github', {})
  const { body, head, ...record } = noted[0] ?? assert.fail()
  assert.ok(body && head)
  assert.equal(restoreRequest(record), undefined)
  assert.equal(restoreRequest({ ...record, body }), undefined)
  assert.equal(restoreRequest({ ...record, head }), undefined)
})
