import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Handshake, type HandshakeRequest, type Handshakes, UnavailableError } from '@reveille/engine'
import { bearer, openSurface, type SnapshotOptions, type SurfaceParts } from '../surface-fixture.ts'
import { createProvider, type ProviderParts, policyFor, sign } from './provider-fixture.ts'

const good: Handshake = {
  status: 200,
  contentType: 'text/plain',
  headers: { 'x-more': 'more' },
  body: 'challenge',
  reason: 'the challenge was echoed',
}
const wrong: Handshake = { status: 403, body: '', reason: 'the verify token is another one' }
const loopback = { address: '127.0.0.0', prefix: 8, family: 'ipv4' } as const

type Answer = (request: HandshakeRequest) => Handshake | undefined

/** Opens a surface whose endpoint `github` answers handshakes with `answer`. */
function openWithHandshakes(
  t: Parameters<typeof openSurface>[0],
  answer: Answer,
  more: Partial<Handshakes> & Pick<ProviderParts, 'secrets'> = {},
  options: SnapshotOptions & SurfaceParts = {},
) {
  const { secrets, ...handshakes } = more
  const provider = createProvider({
    ...(secrets && { secrets }),
    handshakes: { methods: ['GET', 'HEAD', 'OPTIONS'], unsigned: false, answer, ...handshakes },
  })
  return openSurface(t, { ...options, policies: { github: policyFor('gh/:any', provider) } })
}

test("a handshake with another method than POST gets the reply of its provider, with and without Fastify's router", async (t) => {
  const { app, noted, lines, resolved, entries, state } = await openWithHandshakes(
    t,
    ({ method, query, payload, isTrusted }) => {
      assert.deepEqual([{ ...query }, payload, isTrusted], [{ a: '1' }, undefined, false])
      return { ...good, body: method }
    },
  )
  const { snapshot } = state.live
  const gateway = { ...snapshot.settings.gateway, trustedProxies: [loopback] }
  const behindProxy = { ...snapshot, settings: { ...snapshot.settings, gateway } }
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const serving of [snapshot, behindProxy]) {
    state.live = { generation: 1, snapshot: serving }
    for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) {
      const injected = await app.inject({ method, url: '/hooks/github?a=1' })
      assert.deepEqual([injected.statusCode, injected.headers['x-more']], [200, 'more'])
      const sent = await fetch(`${address}/hooks/github?a=1`, { method })
      assert.deepEqual([sent.status, sent.headers.get('content-type')], [200, 'text/plain'])
      assert.equal(await sent.text(), method === 'HEAD' ? '' : method)
      assert.ok(sent.headers.get('x-request-id'))
    }
  }
  assert.equal(noted.length, 12)
  const { outcome, status, reason, code, failure } = noted[0] ?? assert.fail()
  assert.deepEqual(
    [outcome, status, reason, code, failure],
    ['handshake', 200, good.reason, undefined, undefined],
  )
  const line = await lines.line('request-handshake')
  assert.deepEqual([line['level'], line['reason'], line['status']], ['info', good.reason, 200])
  assert.deepEqual([resolved.length, entries.length], [0, 0], 'a handshake is not an event')
})

test('a GET that is no handshake, and a method that the provider does not use, are refused with 405', async (t) => {
  const { app } = await openWithHandshakes(t, () => undefined, { methods: ['GET'] })
  for (const [method, url] of [
    ['GET', '/hooks/github'],
    ['HEAD', '/hooks/github'],
    ['PUT', '/hooks/github'],
    ['GET', '/hooks/wake'],
    ['GET', '/hooks/nowhere'],
    ['GET', '/hooks'],
  ] as const) {
    const answer = await app.inject({ method, url })
    assert.deepEqual([answer.statusCode, answer.headers['allow']], [405, 'POST'], `${method} ${url}`)
  }
})

test('a handshake with the wrong secret gets the reply of its provider and is a refused request', async (t) => {
  const { app, noted } = await openWithHandshakes(t, () => wrong)
  const answer = await app.inject({ method: 'GET', url: '/hooks/github' })
  assert.deepEqual([answer.statusCode, answer.body], [403, ''])
  const { outcome, status, code, failure, reason } = noted[0] ?? assert.fail()
  assert.deepEqual(
    [outcome, status, code, failure, reason],
    ['refused', 403, 'UNAUTHORIZED', 'HANDSHAKE_WRONG', wrong.reason],
  )
})

test('a signed handshake is answered once its signature was verified, and starts nothing', async (t) => {
  const seen: unknown[] = []
  const { post, app, resolved, noted } = await openWithHandshakes(t, ({ payload, isTrusted, method }) => {
    seen.push([method, payload, isTrusted])
    return (payload as { challenge?: string })?.challenge ? { ...good, status: 204, body: '' } : undefined
  })
  const challenge = '{"challenge":"c"}'
  assert.equal((await post('github', challenge, { 'x-signature': 'forged' })).status, 401)
  assert.equal((await post('github', challenge, {})).status, 401)
  assert.deepEqual(seen, [])
  const answer = await app.inject({
    method: 'POST',
    url: '/hooks/github',
    headers: { 'x-signature': sign(challenge) },
    payload: challenge,
  })
  assert.deepEqual([answer.statusCode, answer.headers['content-length']], [204, undefined])
  assert.deepEqual(seen, [['POST', { challenge: 'c' }, true]])
  assert.equal(noted.at(-1)?.outcome, 'handshake')
  assert.equal(resolved.length, 0)
  assert.equal((await post('github', '{}', { 'x-signature': sign('{}') })).status, 200)
  assert.equal(resolved.length, 1)
})

test('only JSON bodies can be handshakes, and other bodies are refused with their own error', async (t) => {
  const seen: unknown[] = []
  const { post } = await openWithHandshakes(t, ({ payload }) => {
    seen.push(payload)
    return undefined
  })
  const send = (body: string, headers = {}) => post('github', body, { ...headers, 'x-signature': sign(body) })
  assert.equal((await send('no JSON')).body['code'], 'INVALID_JSON')
  assert.equal((await send('')).status, 200)
  assert.equal((await send('a=1', { 'content-type': 'application/x-www-form-urlencoded' })).status, 200)
  assert.deepEqual(seen, [undefined, undefined, undefined])
})

test('an unsigned handshake is accepted only if its provider sends them unsigned, and only with a small body', async (t) => {
  const answer: Answer = ({ payload, query, isTrusted }) => {
    assert.equal(isTrusted, false)
    return query['validationToken'] === 'v' || (payload as { challenge?: string })?.challenge
      ? good
      : undefined
  }
  for (const secrets of [[], ['secret']]) {
    const { app, resolved, noted } = await openWithHandshakes(t, answer, { unsigned: true, secrets })
    const send = async (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
      (await app.inject({ method: 'POST', url, headers, payload })).statusCode
    assert.equal(await send('/hooks/github', '{"challenge":"c"}'), 200)
    assert.equal(
      await send('/hooks/github', gzipSync('{"challenge":"c"}'), { 'content-encoding': 'gzip' }),
      200,
    )
    assert.equal(await send('/hooks/github?validationToken=v', ''), 200)
    for (const payload of ['{}', 'no JSON', '', '['.repeat(5000), `{"challenge":"${'c'.repeat(16_384)}"}`]) {
      assert.equal(await send('/hooks/github', payload), 401)
    }
    const bomb = gzipSync(JSON.stringify({ challenge: 'c'.repeat(1_000_000) }))
    assert.equal(await send('/hooks/github', bomb, { 'content-encoding': 'gzip' }), 401)
    assert.equal(await send('/hooks/wake', '{"challenge":"c"}'), 401)
    assert.equal(
      await send('/hooks/github', '{"challenge":"c"}', { authorization: 'Bearer wrong' }),
      secrets.length === 0 ? 401 : 200,
      'a wrong token is refused where a token is required',
    )
    assert.equal(resolved.length, 0)
    assert.ok(noted.every(({ body, head }) => body === undefined && head === undefined))
  }
})

test('an unauthenticated client that sends without end is answered 401 and disconnected', async (t) => {
  const { dial, timers } = await openWithHandshakes(
    t,
    ({ payload }) => assert.equal(payload, undefined) as undefined,
    { unsigned: true },
    { hooks: { maxBodyBytes: 100_000 } },
  )
  const sender = await dial()
  sender.send('POST /hooks/github HTTP/1.1', 'host: x', 'transfer-encoding: chunked', '', '')
  await timers.armed()
  sender.send('4001', 'x'.repeat(0x4001), '')
  assert.match(await sender.received('UNAUTHORIZED'), /^HTTP\/1\.1 401 .*connection: close/is)
  timers.fire()
  await sender.closed()
  assert.equal(timers.running, 0)
})

test('a handshake with the token is trusted', async (t) => {
  const { post } = await openWithHandshakes(
    t,
    ({ isTrusted }) => (isTrusted ? { ...good, body: '{}' } : undefined),
    {
      secrets: [],
    },
  )
  assert.equal((await post('github', {}, bearer)).headers['x-more'], 'more')
})

test('the effects of a handshake are performed before its reply, and its secret is kept nowhere else', async (t) => {
  const issuedSecret = { name: 'verification-token', value: 'c4n4ry' }
  const confirm = 'https://confirm.example/c4n4ry'
  const performed: unknown[] = []
  let fails = false
  const { app, noted, lines } = await openWithHandshakes(
    t,
    () => ({ ...good, issuedSecret, confirm }),
    {},
    {
      bodies: 'all',
      async performHandshakeEffects(policy, handshake) {
        performed.push([policy, handshake.issuedSecret, handshake.confirm])
        if (fails) throw new UnavailableError('c4n4ry')
      },
    },
  )
  const body = '{"verification_token":"c4n4ry"}'
  const send = () =>
    app.inject({
      method: 'POST',
      url: '/hooks/github',
      headers: { 'x-signature': sign(body) },
      payload: body,
    })
  assert.equal((await send()).statusCode, 200)
  const [shaken] = noted
  assert.deepEqual([shaken?.outcome, shaken?.body, shaken?.head], ['handshake', undefined, undefined])
  assert.deepEqual(
    performed,
    [['gh/:any', issuedSecret, confirm]],
    'by the policy, not by the path of the request',
  )
  fails = true
  const failed = await send()
  assert.deepEqual(
    [failed.statusCode, failed.headers['retry-after'], failed.json().code],
    [503, '30', 'HANDSHAKE_UNAVAILABLE'],
  )
  assert.doesNotMatch(JSON.stringify([noted, lines.all, failed.body]), /c4n4ry/)
})

test('a reply that cannot be sent ends its connection, and no other', async (t) => {
  const { dial, lines } = await openWithHandshakes(t, () => ({ ...good, headers: { 'x-more': 'a\r\nb: c' } }))
  const sender = await dial()
  sender.send('GET /hooks/github HTTP/1.1', 'host: x', '', '')
  assert.equal(await sender.closed(), '')
  await lines.line('reply-failed')
  const other = await dial()
  other.send('POST /hooks/wake HTTP/1.1', 'host: x', 'content-length: 0', '', '')
  await other.received('UNAUTHORIZED')
})

test('a handshake with a wrong secret counts as a failed attempt, no handshake clears the count, and the rate limits all of them', async (t) => {
  const answer: Answer = ({ query }) => (query['as'] === 'good' ? good : wrong)
  const provider = createProvider({ handshakes: { methods: ['GET'], unsigned: true, answer } })
  const rate = { policy: 'x', value: { client: { max: 24, windowMs: 60_000 } } }
  const { app } = await openSurface(t, { policies: { github: { ...policyFor('github', provider), rate } } })
  const send = async (as: string, method: 'GET' | 'POST' = 'GET') => {
    const { statusCode, body } = await app.inject({ method, url: `/hooks/github?as=${as}` })
    return statusCode === 429 ? JSON.parse(body).code : statusCode
  }
  for (let attempt = 0; attempt < 20; attempt += 1) assert.equal(await send('wrong'), 403)
  assert.deepEqual([await send('good'), await send('wrong')], [200, 'TOO_MANY_TRIES'])
  assert.equal(await send('good', 'POST'), 'TOO_MANY_TRIES')
  assert.deepEqual([await send('good'), await send('good')], [200, 'RATE_LIMITED'])
})
