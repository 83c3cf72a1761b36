/** Requests of a source pass the same steps as all others, except authentication. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Posted } from '@reveille/kit'
import { StoreError } from '../../store/port.ts'
import { createProvider, policyFor } from '../auth/provider-fixture.ts'
import type { InternalRequest } from '../index.ts'
import { agent, explained, openSurface, type SurfaceFixture, token, wake } from '../surface-fixture.ts'

const client = 'source gmail'
const loopback = { address: '127.0.0.0', prefix: 8, family: 'ipv4' } as const

function postInternally(
  { surface }: SurfaceFixture,
  request: Partial<InternalRequest> = {},
): Promise<Posted> {
  return surface.post({ endpoint: 'github', body: '{"a":1}', client, ...request })
}

test('an internal request is accepted like any other, and names its source', async (t) => {
  const surface = await openSurface(t, {
    bodies: 'all',
    resolve: () => ({ outcome: 'accepted', actions: [agent, wake] }),
  })
  assert.deepEqual(await postInternally(surface), { status: 202 })
  const { entries, resolved, lines } = surface
  assert.deepEqual(resolved[0]?.payload, { a: 1 })
  const record = entries[0]?.request
  assert.deepEqual(
    [
      record?.client,
      record?.endpoint,
      record?.outcome,
      record?.status,
      record?.bodyBytes,
      record?.generation,
    ],
    [client, 'github', 'accepted', 202, 7, 1],
  )
  assert.equal(record?.head?.headers['content-type'], 'application/json')
  assert.equal(record?.head?.headers['host'], undefined)
  const line = await lines.line('request-accepted')
  assert.deepEqual([line['client'], line['status'], line['requestId']], [client, 202, record?.id])
})

test('an internal request succeeds as a wake, and where no mapping matches it', async (t) => {
  assert.deepEqual(await postInternally(await openSurface(t)), { status: 200 })
  const reason = 'no mapping'
  const surface = await openSurface(t, { resolve: () => ({ outcome: 'ignored', reason }) })
  assert.deepEqual(await postInternally(surface), { status: 200, isIgnored: true })
  await explained()
  assert.deepEqual([surface.noted[0]?.outcome, surface.noted[0]?.client], ['ignored', client])
  assert.equal(surface.ignored.length, 1)
})

for (const [auth, policy] of [
  ['signature', policyFor('github', createProvider())],
  ['both', policyFor('github', createProvider(), 'both')],
  ['none', { auth: { value: 'none', policy: 'github' } }],
] as const) {
  test(`an internal request needs no credentials where the policy asks for ${auth}`, async (t) => {
    const surface = await openSurface(t, { policies: { github: policy } })
    assert.deepEqual(await postInternally(surface), { status: 200 })
    assert.equal(surface.entries.length, 1)
  })
}

test('an internal request is no handshake, whatever it holds', async (t) => {
  const answer = () => assert.fail('it was taken for a handshake')
  const provider = createProvider({ handshakes: { methods: [], unsigned: true, answer } })
  const surface = await openSurface(t, { policies: { github: policyFor('github', provider) } })
  assert.deepEqual(await postInternally(surface), { status: 200 })
})

test('an internal request counts for the rate of the endpoint, and not for that of a client', async (t) => {
  const rate = { client: { max: 1, windowMs: 60_000 }, endpoint: { max: 2, windowMs: 60_000 } }
  const surface = await openSurface(t, { policies: { github: { rate: { value: rate, policy: 'github' } } } })
  assert.equal((await postInternally(surface)).status, 200)
  assert.equal((await postInternally(surface)).status, 200)
  const { retryAfter, ...posted } = await postInternally(surface)
  assert.deepEqual(posted, {
    status: 429,
    code: 'RATE_LIMITED',
    message: 'The rate limit is exceeded; try again later.',
  })
  assert.ok(retryAfter !== undefined && retryAfter > 0 && retryAfter <= 60)
})

test('an internal request is refused like any other: size, JSON, endpoint, backlog, store, drain', async (t) => {
  const surface = await openSurface(t, { hooks: { maxBodyBytes: 100 } })
  const refusal = async (request?: Partial<InternalRequest>) => {
    const { status, code, retryAfter } = await postInternally(surface, request)
    return [status, code, retryAfter]
  }
  const long = JSON.stringify({ text: 'x'.repeat(100_000) })
  assert.deepEqual(await refusal({ body: long }), [413, 'BODY_TOO_LARGE', undefined])
  assert.deepEqual(await refusal({ body: `{"a":"${'ä'.repeat(50)}"}` }), [413, 'BODY_TOO_LARGE', undefined])
  assert.deepEqual(await refusal({ body: '{' }), [400, 'INVALID_JSON', undefined])
  assert.deepEqual(await refusal({ endpoint: 'nobodys' }), [404, 'NOT_FOUND', undefined])
  surface.state.full = true
  assert.deepEqual(await refusal(), [503, 'BACKLOG', 30])
  surface.state.full = false
  surface.state.accept = () => Promise.reject(new StoreError('STORE_FULL', 'The disk is full.'))
  assert.deepEqual(await refusal(), [503, 'STORE_FULL', 60])
  surface.draining.abort()
  assert.deepEqual(await refusal(), [503, 'DRAINING', 5])
  assert.deepEqual(surface.entries, [])
  assert.ok(surface.noted.every((note) => note.client === client))
})

test('an internal request is answered 404 while hooks are off, and with the refusals of the engine', async (t) => {
  const off = await openSurface(t, { hooks: { enabled: false } })
  assert.equal((await postInternally(off)).code, 'NOT_FOUND')
  const message = 'There are 101 actions.'
  const many = { outcome: 'refused', code: 'TOO_MANY_ACTIONS', message, details: [] } as const
  const surface = await openSurface(t, { resolve: () => many })
  assert.deepEqual(await postInternally(surface), {
    status: 400,
    code: 'TOO_MANY_ACTIONS',
    message,
  })
})

test('an internal request that came before is answered as a success, and says so', async (t) => {
  const surface = await openSurface(t, { resolve: () => ({ outcome: 'accepted', actions: [agent] }) })
  surface.state.acceptance = { actions: [{ outcome: 'duplicate', original: 'run', request: 'request' }] }
  assert.deepEqual(await postInternally(surface), { status: 200, isDuplicate: true })
})

test('an aborted internal request rejects with the reason at once', async (t) => {
  const surface = await openSurface(t)
  const before = AbortSignal.abort(new Error('the source ends'))
  await assert.rejects(postInternally(surface, { signal: before }), /the source ends/)
  assert.deepEqual(surface.resolved, [])

  const abort = new AbortController()
  const committing = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  surface.state.accept = () => {
    committing.resolve()
    return release.promise
  }
  const posted = postInternally(surface, { signal: abort.signal })
  await committing.promise
  abort.abort(new Error('the source ends'))
  await assert.rejects(posted, /the source ends/)
  release.resolve()
  await surface.lines.line('request-accepted')
})

test('nothing that a sender writes makes its request internal', async (t) => {
  const surface = await openSurface(t, { trustedProxies: [loopback], isBoundToLoopback: true })
  const { dial, entries, app } = surface
  assert.deepEqual(await postInternally(surface), { status: 200 })
  const inside = entries.splice(0).map(({ request }) => request.client)
  const body = '{"a":1}'
  const heads = [
    ['POST /hooks/github HTTP/1.1', 'user-agent: reveille'],
    ['POST / HTTP/1.1', 'content-type: application/json', 'user-agent: reveille'],
    ['POST /hooks/github HTTP/1.1', `x-forwarded-for: ${client}`, `forwarded: for="${client}"`],
    [
      'POST /hooks/github?isInternal=true&client=source%20gmail HTTP/1.1',
      'isours: true',
      `client: ${client}`,
    ],
    ['POST http://localhost/hooks/github HTTP/1.1', 'islightmyrequest: true', 'x-request-id: 1'],
  ]
  for (const head of heads) {
    const sender = await dial()
    sender.send(...head, 'host: localhost', `content-length: ${body.length}`, 'connection: close', '', body)
    const answer = await sender.closed()
    assert.match(
      answer,
      head[0]?.startsWith('POST / ') ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 401 /,
      head.join('\n'),
    )
  }
  const injected = await app.inject({
    method: 'POST',
    url: '/hooks/github',
    payload: body,
    remoteAddress: client,
  })
  assert.equal(injected.statusCode, 401)
  assert.equal(entries.length, 0)

  // A sender with the token does not make an internal request either.
  const sender = await dial()
  const head = [
    `authorization: Bearer ${token}`,
    'host: x',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  sender.send('POST /hooks/github HTTP/1.1', ...head, '', body)
  assert.match(await sender.closed(), /^HTTP\/1\.1 200 /)
  assert.deepEqual([...inside, ...entries.map(({ request }) => request.client)], [client, '127.0.0.1'])
})
