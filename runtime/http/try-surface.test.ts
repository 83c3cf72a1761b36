import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decision, tryRequest } from '@reveille/engine'
import { agent, bearer, createSnapshot, openSurface, wake } from './surface-fixture.ts'
import { trySurface } from './try-surface.ts'

const refusal: Decision = { outcome: 'refused', code: 'BLANK_TEXT', message: 'no', details: [] }
const failure: Decision = { outcome: 'failed', code: 'ENGINE_FAILED', message: 'no', details: [] }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

interface Sent {
  readonly endpoint?: string
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly decision?: Decision
}

const requests: readonly Sent[] = [
  {},
  { decision: { outcome: 'accepted', actions: [wake, agent] } },
  { decision: { outcome: 'ignored', reason: 'x' } },
  { decision: { outcome: 'skipped', reason: 'x', mapping: 'm' } },
  { decision: refusal },
  { decision: failure },
  { decision: { ...refusal, code: 'NOBODY_KNOWS' } },
  { endpoint: 'gitlab' },
  { body: '' },
  { body: '{' },
  { body: '"\xff' },
  { body: 'a=1&a=2', headers: form },
  { body: 'a&'.repeat(600), headers: form },
  { body: `"${'x'.repeat(1023)}"` },
  { endpoint: 'wake', body: '' },
  { endpoint: 'wake', body: 'text=hi', headers: form },
  { headers: { 'x-github-event': 'push', 'x-gateway-token': 'right-token' } },
]

test('a tried request has the same result as one that is sent', async (t) => {
  for (const { endpoint = 'github', body = '{"a":[1]}', headers = {}, decision } of requests) {
    const options = decision ? { resolve: () => decision } : {}
    const { post, resolved } = await openSurface(t, options)
    const sent = await post(endpoint, Buffer.from(body, 'latin1'), { ...bearer, ...headers })
    const received = { endpoint, headers, query: {}, body: Buffer.from(body, 'latin1'), now: 0 }
    const tried = await tryRequest(received, createSnapshot(options), trySurface, { dryRun: 'refuse' })

    const shown = JSON.stringify({ endpoint, body: body.slice(0, 20), decision })
    assert.equal(tried.status, sent.status, shown)
    if ('code' in tried.decision && tried.decision.code !== 'NOBODY_KNOWS')
      assert.equal(tried.decision.code, sent.body['code'], shown)
    assert.deepEqual(tried.request?.payload, resolved[0]?.payload, shown)
    assert.equal(tried.request?.headers['x-github-event'], resolved[0]?.headers['x-github-event'], shown)
    assert.equal(tried.request?.headers['x-gateway-token'], undefined, shown)
  }
})
