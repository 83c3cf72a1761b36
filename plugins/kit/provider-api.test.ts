import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transientError } from './plugin-error.ts'
import { createProviderApi } from './provider-api.ts'

test('an answer that breaks off, and a connection that fails, are distinguished by what happened', async () => {
  const cut = () => new ReadableStream({ pull: (body) => body.error(new Error('socket hang up')) })
  const cases: [fetch: typeof fetch, message: RegExp][] = [
    [async () => new Response(cut()), /^Forge broke off about the webhooks\.$/],
    [() => Promise.reject(transientError('network', 'connection refused')), /^connection refused$/],
  ]
  for (const [fetch, message] of cases) {
    const call = createProviderApi(
      { title: 'Forge', api: 'http://127.0.0.1', scope: 'none', firstWaitMs: 1 },
      {
        ...{ fetch, token: 'x', tokenFrom: 'TOKEN', signal: new AbortController().signal },
        clock: { now: () => 0, sleep: async () => {} },
      },
    )
    await assert.rejects(call({ path: '/hooks', what: 'the webhooks' }), { code: 'network', message })
  }
})
