/** Tests the authentication of senders by token, signature, both or none, and the replies to refused ones. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type EffectivePolicy, UnavailableError, type VerifyResult } from '@reveille/engine'
import { StoreError } from '../../store/port.ts'
import { bearer, createSnapshot, openSurface, token } from '../surface-fixture.ts'
import { createProvider, type ProviderParts, policyFor, secret, sign } from './provider-fixture.ts'

const body = '{"a":1}'
const signed = { 'x-signature': sign(body) }
const forged = { 'x-signature': sign(body, 'another secret') }

/** The policies of a provider that signs. */
const signing = { github: policyFor('github', createProvider()) }
const verifying = (verify: NonNullable<ProviderParts['verify']>) => ({
  policies: { github: policyFor('github', createProvider({ verify })) },
})
const wrongToken = { authorization: 'Bearer wrong' }
const own = { token: { value: ['own'], policy: 'github' } }
const ofOwn = { authorization: 'Bearer own' }
const unset = createProvider({ secrets: [] })
const inAuthorization = createProvider({ tokenHeaders: ['authorization'] })
const three = { ...signed, authorization: 'Bearer of.the.provider', 'x-gateway-token': token }

type Tried = readonly (readonly [headers: Readonly<Record<string, string>>, failure?: string])[]

/** Attempts at an endpoint of each policy, and the reason for their refusal. */
const tries: Readonly<Record<string, readonly [EffectivePolicy, Tried]>> = {
  'a signature': [
    policyFor('github', createProvider()),
    [
      [signed],
      [{ ...signed, ...wrongToken }],
      [{}, 'SIGNATURE_MISSING'],
      [bearer, 'SIGNATURE_MISSING'],
      [forged, 'SIGNATURE_MISMATCH'],
      [{ ...bearer, ...forged }, 'SIGNATURE_MISMATCH'],
    ],
  ],
  'both, a token and a signature': [
    policyFor('github', createProvider(), 'both'),
    [
      [{ ...bearer, ...signed }],
      [signed, 'TOKEN_MISSING'],
      [{ ...signed, ...wrongToken }, 'TOKEN_WRONG'],
      [bearer, 'SIGNATURE_MISSING'],
      [{ ...bearer, ...forged }, 'SIGNATURE_MISMATCH'],
    ],
  ],
  'both, where the provider signs in Authorization': [
    policyFor('github', inAuthorization, 'both'),
    [[three]],
  ],
  'a token, though there is a secret': [
    policyFor('github', createProvider(), 'token'),
    [[bearer], [signed, 'TOKEN_MISSING']],
  ],
  'a signature without a secret, so that the token is accepted': [
    policyFor('github', unset),
    [[bearer], [signed, 'TOKEN_MISSING']],
  ],
  'a signature alone, without a secret': [
    policyFor('github', unset, 'signature'),
    [[{ ...bearer, ...signed }, 'SECRET_MISSING']],
  ],
  'a token of its own beside those of all hooks': [own, [[ofOwn], [bearer], [wrongToken, 'TOKEN_WRONG']]],
  'nothing of its own': [{}, [[bearer], [ofOwn, 'TOKEN_WRONG']]],
}

for (const [asked, [policy, all]] of Object.entries(tries))
  test(`an endpoint asks for ${asked}`, async (t) => {
    const { post, resolved, noted } = await openSurface(t, { policies: { github: policy } })
    for (const [headers, failure] of all) {
      const { status } = await post('github', body, { ...headers })
      const shown = JSON.stringify(headers)
      assert.equal(status, failure === undefined ? 200 : 401, shown)
      const note = noted.pop()
      assert.equal(note?.failure, failure, shown)
      const [request] = resolved.splice(0)
      if (failure === undefined) assert.deepEqual(request?.payload, { a: 1 }, shown)
      else assert.equal(request, undefined, shown)
    }
  })

test('the sender reads the same 401, whatever was missing or wrong', async (t) => {
  const policies = {
    github: policyFor('github', createProvider()),
    agent: policyFor('agent', createProvider(), 'both'),
  }
  const { post } = await openSurface(t, { policies })
  const answers = [
    await post('wake', body, {}),
    await post('wake', body, wrongToken),
    await post('wake', body, { authorization: 'Basic cmlnaHQtdG9rZW4=' }),
    await post('wake', body, { 'x-gateway-token': 'wrong' }),
    await post('nowhere', body, {}),
    await post('github', body, {}),
    await post('github', body, forged),
    await post('agent', body, signed),
    await post('agent', body, { ...bearer, ...forged }),
  ]
  const replies = answers.map(({ status, headers, body: { requestId, ...rest } }) => {
    const { 'x-request-id': id, date, ...others } = headers
    return { status, others, rest, hasId: id === requestId, hasDate: date !== undefined }
  })
  for (const each of replies) assert.deepEqual(each, replies[0])
  assert.equal(replies[0]?.others['www-authenticate'], 'Bearer')
  const error = 'The token or signature is missing or wrong.'
  assert.deepEqual([replies[0]?.status, replies[0]?.rest], [401, { ok: false, error, code: 'UNAUTHORIZED' }])
})

test('the log and the record say why, and by how much a clock is off, and quote nothing of the request', async (t) => {
  const verdicts: VerifyResult[] = [
    { ok: false, code: 'TIMESTAMP_OUTSIDE', skewSeconds: -612.4 },
    { ok: false, code: 'TIMESTAMP_OUTSIDE', skewSeconds: 3600 },
    { ok: false, code: 'KEY_REFUSED', reason: 'the certificate is of nobody' },
  ]
  const verify = () => verdicts.shift() ?? assert.fail()
  const { post, noted, lines } = await openSurface(t, verifying(verify))
  const canary = 'c4n4ry'
  for (const reason of [
    'the time of the signature lies outside the tolerance: 612 s in the past',
    'the time of the signature lies outside the tolerance: 3,600 s in the future',
    'the certificate is of nobody',
  ]) {
    await post(`github?x=${canary}`, { canary }, { 'x-signature': canary })
    assert.deepEqual([noted.at(-1)?.reason, lines.all.at(-1)?.['reason']], [reason, reason])
    assert.equal(lines.all.at(-1)?.['failure'], noted.at(-1)?.failure)
  }
  assert.doesNotMatch(JSON.stringify([noted, lines.all]), new RegExp(canary))
})

test('a sender that still uses a token where a signature is required gets a reason of its own', async (t) => {
  const { post, noted } = await openSurface(t, { policies: signing })
  await post('github', body, bearer)
  await post('github', body, {})
  assert.deepEqual(
    noted.map(({ failure, reason }) => [failure, reason]),
    [
      ['SIGNATURE_MISSING', 'no signature came; a token did, which this endpoint does not ask for'],
      ['SIGNATURE_MISSING', 'no signature came'],
    ],
  )
})

test('an endpoint name that a client made up is not recorded', async (t) => {
  const { post, app, noted } = await openSurface(t)
  await post('made-up', body, {})
  await app.inject({ method: 'GET', url: '/hooks/made-up' })
  await post('github', body, {})
  await post('made-up', body)
  assert.deepEqual(
    noted.map(({ status, endpoint }) => [status, endpoint]),
    [
      [401, ''],
      [405, ''],
      [401, 'github'],
      [404, 'made-up'],
    ],
  )
})

test('the signature has to be present before the body is read, and is verified before the body is decoded', async (t) => {
  const { dial, timers } = await openSurface(t, { policies: signing })
  const sender = await dial()
  sender.send('POST /hooks/github HTTP/1.1', 'host: x', 'content-length: 1000', '', '')
  assert.match(await sender.received('UNAUTHORIZED'), /^HTTP\/1\.1 401 /)
  assert.equal(timers.running, 0)
})

test('a signature is verified over the bytes as they were sent, before they are decompressed', async (t) => {
  const { post, resolved } = await openSurface(t, { policies: signing })
  const zipped = gzipSync(body)
  const encoded = { 'content-encoding': 'gzip' }
  assert.equal((await post('github', zipped, { ...encoded, 'x-signature': sign(zipped) })).status, 200)
  assert.deepEqual(resolved[0]?.payload, { a: 1 })
  assert.equal((await post('github', zipped, { ...encoded, ...signed })).status, 401)
  const odd = '{ "a" : 1.0 }'
  assert.equal((await post('github', odd, { 'x-signature': sign(odd) })).status, 200)
  assert.equal((await post('github', '{"a":1.0}', { 'x-signature': sign(odd) })).status, 401)
})

test('a forged body is not parsed, and a signed one that is no JSON is 400', async (t) => {
  const { post } = await openSurface(t, { policies: signing })
  assert.equal((await post('github', 'no JSON', forged)).status, 401)
  assert.equal(
    (await post('github', 'no JSON', { 'x-signature': sign('no JSON') })).body['code'],
    'INVALID_JSON',
  )
  const encoded = { 'content-encoding': 'gzip' }
  assert.equal((await post('github', 'no gzip', { ...encoded, ...forged })).status, 401)
  const long = 'x'.repeat(2000)
  assert.equal((await post('github', long, { 'x-signature': sign(long) })).status, 413)
})

test('a verifier sees method, path and query as they were sent', async (t) => {
  const targets: string[] = []
  const verify = ({ method, target }: { method: string; target: string }): VerifyResult => {
    targets.push(`${method} ${target}`)
    return { ok: true, scheme: 'default', secret: 0 }
  }
  const { dial } = await openSurface(t, verifying(verify))
  for (const url of ['/hooks/github?a=%2f&b', 'http://x.example/hooks/github?a=%2f&b']) {
    const sender = await dial()
    sender.send(`POST ${url} HTTP/1.1`, 'host: x', 'x-signature: s', 'content-length: 2', '', '{}')
    await sender.received('HTTP/1.1 200')
  }
  assert.deepEqual(targets, ['POST /hooks/github?a=%2f&b', 'POST /hooks/github?a=%2f&b'])
})

test('keys that are out of reach are answered 503 with Retry-After, whether the verifier throws or rejects', async (t) => {
  for (const verify of [
    () => Promise.reject(new UnavailableError('The server answered 500.')),
    () => {
      throw new UnavailableError('The server answered 500.')
    },
  ]) {
    const { post, noted, lines } = await openSurface(t, verifying(verify))
    const { status, headers, body: answer } = await post('github', body, signed)
    assert.deepEqual([status, headers['retry-after'], answer['code']], [503, '30', 'VERIFIER_UNAVAILABLE'])
    assert.deepEqual([noted[0]?.outcome, noted[0]?.failure], ['refused', 'KEYS_UNAVAILABLE'])
    assert.equal(lines.all[0]?.['level'], 'warn')
  }
})

test('a verifier that fails in any other way is answered with a bare 500', async (t) => {
  const verify = () => Promise.reject(new TypeError('canary'))
  const { post } = await openSurface(t, verifying(verify))
  const { status, text } = await post('github', body, signed)
  assert.equal(status, 500)
  assert.doesNotMatch(text, /canary/)
})

test('while draining or over the backlog the reply is 503 before a signature is verified', async (t) => {
  const verify = () => assert.fail('it was verified')
  const { post, state, draining } = await openSurface(t, verifying(verify))
  state.full = true
  assert.equal((await post('github', body, signed)).body['code'], 'BACKLOG')
  draining.abort()
  assert.equal((await post('github', body, signed)).body['code'], 'DRAINING')
  assert.equal((await post('github', body, {})).status, 401)
})

test('the use of an old token or secret is logged once a minute for each endpoint, by its place alone', async (t) => {
  const provider = createProvider({ secrets: ['new', secret] })
  const ofCi = { value: ['own', 'in both', token], policy: 'ci/:job' }
  const { post, lines, state } = await openSurface(t, {
    hooks: { tokens: ['newest', token, 'in both'] },
    policies: { github: policyFor('github', provider, 'both'), 'a/b': { token: ofCi } },
  })
  const old = () => lines.all.filter(({ event }) => String(event).startsWith('old-'))
  const both = { ...bearer, ...signed }
  await post('github', body, both)
  await post('github', body, both)
  await post('wake', body, bearer)
  for (const endpoint of ['wake', 'a/b']) await post(endpoint, body, { authorization: 'Bearer newest' })
  await post('nowhere', body, bearer)
  state.now += 60_000
  await post('wake', body, bearer)
  await post('a/b', body, { authorization: 'Bearer in both' })
  state.now += 60_000
  await post('a/b', body, bearer)
  const { hint, ...facts } = old()[0] ?? assert.fail()
  assert.deepEqual(facts, {
    level: 'warn',
    event: 'old-token-used',
    endpoint: 'github',
    list: 'hooks.token',
    position: 2,
    client: '127.0.0.1',
  })
  assert.ok(hint)
  assert.deepEqual(
    old().map(({ event, endpoint, list, position }) => [event, endpoint, list, position]),
    [
      ['old-token-used', 'github', 'hooks.token', 2],
      ['old-secret-used', 'github', 'endpoints.github.verify', 2],
      ['old-token-used', 'wake', 'hooks.token', 2],
      ['old-token-used', 'wake', 'hooks.token', 2],
      ['old-token-used', 'a/b', 'endpoints["ci/:job"].token', 2],
      ['old-token-used', 'a/b', 'hooks.token', 2],
    ],
  )
  assert.doesNotMatch(JSON.stringify(lines.all), new RegExp(`${token}|${secret}`))
})

test('auth: none admits programs on this machine alone, and only while others cannot reach the gateway', async (t) => {
  const policies = { github: { auth: { value: 'none', policy: 'github' } } } as const
  for (const isBoundToLoopback of [true, false]) {
    const { post, noted } = await openSurface(t, { policies, isBoundToLoopback })
    const here = { host: '127.0.0.1:8787' }
    assert.equal((await post('github', body, here)).status, isBoundToLoopback ? 200 : 401)
    assert.equal((await post('wake', body, here)).status, 401, 'an endpoint that does not say so')
    for (const headers of [
      { host: 'rebound.example' },
      { ...here, origin: 'https://page.example' },
      { ...here, 'sec-fetch-site': 'cross-site' },
      { ...here, 'x-forwarded-for': '203.0.113.7' },
    ]) {
      assert.equal((await post('github', body, headers)).status, 401)
      assert.equal(noted.at(-1)?.failure, 'NOT_LOCAL')
      assert.equal((await post('github', body, { ...headers, ...bearer })).status, 200, 'the token opens')
    }
  }
})

test('auth: none does not admit clients behind a trusted proxy', async (t) => {
  const policies = { github: { auth: { value: 'none', policy: 'github' } } } as const
  const loopback = { address: '127.0.0.0', prefix: 8, family: 'ipv4' } as const
  const { post } = await openSurface(t, { policies, isBoundToLoopback: true, trustedProxies: [loopback] })
  assert.equal((await post('github', body, { host: 'localhost' })).status, 200)
  const forwarded = { host: 'localhost', 'x-forwarded-for': '203.0.113.7' }
  assert.equal((await post('github', body, forwarded)).status, 401)
})

test("neither mappings nor records get the provider's token", async (t) => {
  const provider = createProvider({ tokenHeaders: ['x-provider-token'] })
  const policies = {
    github: policyFor('github', provider),
    wake: policyFor('wake', createProvider({ secrets: [] })),
  }
  const fixture = await openSurface(t, {
    policies,
    bodies: 'all',
    resolve: () => ({ outcome: 'ignored', reason: 'nothing matched' }),
  })
  const sent = { ...signed, 'x-provider-token': 'canary', 'x-event': 'e' }
  await fixture.post('github', body, sent)
  const [request] = fixture.resolved
  const [note] = fixture.noted
  assert.deepEqual([request?.headers['x-event'], note?.head?.headers['x-event']], ['e', 'e'])
  assert.doesNotMatch(JSON.stringify([request?.headers, note?.head]), /canary/)
})

test('a new snapshot applies to the next request', async (t) => {
  const { post, state } = await openSurface(t)
  assert.equal((await post('github', body, signed)).status, 401)
  state.live = { generation: 2, snapshot: createSnapshot({ policies: signing }) }
  assert.equal((await post('github', body, signed)).status, 200)
  assert.equal((await post('github', body, bearer)).status, 401)
})

test('a signed request is then treated like one with a token: loops, waits and refusals of the store', async (t) => {
  const { post, state } = await openSurface(t, {
    policies: signing,
    loopIn: ({ query }) => (query['echo'] ? 'an echo' : undefined),
  })
  assert.deepEqual((await post('github?echo=1', body, signed)).body['reason'], 'an echo')
  state.accept = () => Promise.reject(new StoreError('STORE_FULL', 'no'))
  assert.equal((await post('github', body, signed)).body['code'], 'STORE_FULL')
})

const rateOf = (value: NonNullable<EffectivePolicy['rate']>['value']) => ({ rate: { value, policy: 'x' } })

test('the rate of a client counts before authentication, and that of the endpoint after it and before the body', async (t) => {
  const { post, dial, noted } = await openSurface(t, {
    policies: {
      github: {
        ...policyFor('github', createProvider()),
        ...rateOf({ client: { max: 3, windowMs: 60_000 } }),
      },
      wake: rateOf({ endpoint: { max: 1, windowMs: 60_000 } }),
    },
  })
  const tried = async (endpoint: string, headers: Record<string, string>) => {
    const { status, headers: answered, body: answer } = await post(endpoint, body, headers)
    return [status, answer['code'], answered['retry-after']]
  }
  const limited = [429, 'RATE_LIMITED', '60']
  for (let time = 0; time < 3; time += 1) assert.equal((await tried('github', forged))[0], 401)
  assert.deepEqual(await tried('github', signed), limited)
  assert.match(noted.at(-1)?.reason ?? '', /more than endpoints\.x\.rate\.client allows$/)
  for (let time = 0; time < 2; time += 1) assert.equal((await tried('wake', wrongToken))[0], 401)
  assert.equal((await tried('wake', bearer))[0], 200)
  assert.deepEqual(await tried('wake', bearer), limited)
  assert.match(noted.at(-1)?.reason ?? '', /more than endpoints\.x\.rate\.endpoint allows$/)
  const sender = await dial()
  sender.send(
    'POST /hooks/wake HTTP/1.1',
    'host: x',
    `authorization: ${bearer.authorization}`,
    'content-length: 9',
    '',
    '',
  )
  assert.match(await sender.received('RATE_LIMITED'), /^HTTP\/1\.1 429 /)
  assert.equal((await tried('agent', bearer))[0], 200, 'another endpoint has no rate')
})

test('after too many wrong tries a sender that shows nothing has to wait too, and a right token ends the wait', async (t) => {
  const { post, noted } = await openSurface(t, { policies: signing })
  for (let time = 0; time < 10; time += 1) {
    assert.equal((await post('wake', body, wrongToken)).status, 401)
    assert.equal((await post('github', body, forged)).status, 401)
  }
  for (const [endpoint, headers, failure] of [
    ['wake', wrongToken, 'TOKEN_WRONG'],
    ['wake', {}, 'TOKEN_MISSING'],
    ['github', forged, 'SIGNATURE_MISMATCH'],
    ['github', {}, 'SIGNATURE_MISSING'],
  ] as const) {
    const { status, body: answer, headers: answered } = await post(endpoint, body, headers)
    assert.deepEqual([status, answer['code'], answered['retry-after']], [429, 'TOO_MANY_TRIES', '60'])
    assert.deepEqual([noted.at(-1)?.status, noted.at(-1)?.failure], [429, failure])
  }
  assert.equal((await post('github', body, signed)).status, 200)
  assert.equal((await post('wake', body, {})).status, 401)
})
