import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { createPost } from './run-source.ts'

const target = { address: 'http://127.0.0.1:8787', path: '/hooks', token: 'secret-token' }

function posting(answer: () => Response | Promise<Response>) {
  const post = createPost(target, async () => answer())
  return post({ endpoint: 'gmail', body: '{}' })
}

test("the gateway's answer is passed on: status, code, sentence and how long to wait", async () => {
  const ignored = () => Response.json({ ok: true, outcome: 'ignored' })
  assert.deepEqual(await posting(ignored), { status: 200, isIgnored: true })
  assert.deepEqual(await posting(() => Response.json({ ok: true })), { status: 200 })
  const refusal = { ok: false, error: 'Too much.', code: 'BACKLOG' }
  const headers = { 'retry-after': '7' }
  assert.deepEqual(await posting(() => Response.json(refusal, { status: 503, headers })), {
    status: 503,
    code: 'BACKLOG',
    message: 'Too much.',
    retryAfter: 7,
  })
})

test('a success that another program answers counts as no answer', async () => {
  const outsiders = [
    () => new Response('<html>Sign in</html>', { status: 200 }),
    () => Response.json({ ok: false }),
    () => Response.json(null),
    () => new Response(null, { status: 204 }),
    () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } }),
    () => new Response('<html>Bad request</html>', { status: 400 }),
    () => new Response('', { status: 409 }),
  ]
  for (const outsider of outsiders) {
    await assert.rejects(posting(outsider), (error: PluginError) => {
      assert.ok(error instanceof PluginError)
      assert.deepEqual([error.code, error.retryable], ['network', true])
      return /is no gateway/.test(error.message)
    })
  }
})

test('the refusal of a proxy counts as one', async () => {
  for (const status of [401, 403, 404, 413, 429, 502, 503]) {
    const { status: output, code } = await posting(() => new Response('<html></html>', { status }))
    assert.deepEqual([output, code], [status, undefined])
  }
})

test('a missing answer is a retryable failure that does not hold the token', async () => {
  const cut = () => Promise.reject(new TypeError('fetch failed'))
  await assert.rejects(posting(cut), (error: PluginError) => {
    assert.equal(error.message, 'The gateway at http://127.0.0.1:8787 does not answer.')
    return error.code === 'network' && error.retryable
  })
  const untrusted = new TypeError('fetch failed', { cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } })
  await assert.rejects(
    posting(() => Promise.reject(untrusted)),
    /does not answer \(DEPTH_ZERO_SELF_SIGNED_CERT\)\.$/,
    'a certificate is not a gateway that is off',
  )
})

test('a cancelled post rejects with the reason of its signal', async () => {
  const abort = new AbortController()
  const reason = new Error('over')
  const post = createPost(target, (_url, init) => {
    const { promise, reject } = Promise.withResolvers<Response>()
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    return promise
  })
  const posted = post({ endpoint: 'gmail', body: '{}', signal: abort.signal })
  abort.abort(reason)
  await assert.rejects(posted, (error) => error === reason)
})
