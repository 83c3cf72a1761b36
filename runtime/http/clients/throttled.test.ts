/** When the request pipeline asks the throttle, and what the sender is replied. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handshake } from '@reveille/engine'
import { createProvider, policyFor, sign } from '../auth/provider-fixture.ts'
import { bearer, openSurface, type SnapshotOptions, type SurfaceParts } from '../surface-fixture.ts'
import type { Throttle } from './throttle.ts'

const body = '{"a":1}'
const signed = { 'x-signature': sign(body) }
const wrongToken = { authorization: 'Bearer wrong' }
const rate = {
  value: { client: { max: 1, windowMs: 1000 }, endpoint: { max: 1, windowMs: 1000 } },
  policy: 'x',
}

/** A throttle that records its calls, and returns what a test sets. */
async function openThrottled(
  t: Parameters<typeof openSurface>[0],
  options: SnapshotOptions & SurfaceParts = {},
) {
  const calls: string[] = []
  const waits: Partial<Record<keyof Throttle, number>> = {}
  const asked = (name: keyof Throttle) => {
    calls.push(name)
    return waits[name]
  }
  const throttle: Throttle = {
    wrong: async () => asked('wrong'),
    blocked: async () => asked('blocked'),
    right: () => void asked('right'),
    takeOfClient: (_client, given) => given && asked('takeOfClient'),
    takeOfEndpoint: (given) => given && asked('takeOfEndpoint'),
  }
  const fixture = await openSurface(t, { ...options, throttle })
  return { ...fixture, calls, waits }
}

test('wrong tokens and signatures count, right ones clear the count, and requests without any do neither', async (t) => {
  const { post, app, calls } = await openThrottled(t, {
    policies: {
      github: policyFor('github', createProvider()),
      agent: policyFor('agent', createProvider(), 'both'),
    },
  })
  const callsOf = async (send: Promise<unknown>) => {
    calls.length = 0
    await send
    return calls.join(' ')
  }
  assert.equal(await callsOf(post('wake', body)), 'right')
  assert.equal(await callsOf(post('nowhere', body)), 'right')
  assert.equal(await callsOf(post('wake', body, wrongToken)), 'wrong')
  assert.equal(await callsOf(post('wake', body, {})), 'blocked')
  assert.equal(await callsOf(post('nowhere', body, wrongToken)), 'wrong')
  assert.equal(await callsOf(post('github', body, signed)), 'right')
  assert.equal(await callsOf(post('github', body, { 'x-signature': 'x' })), 'wrong')
  assert.equal(await callsOf(post('github', body, bearer)), 'blocked')
  assert.equal(await callsOf(post('agent', body, { ...bearer, ...signed })), 'right')
  assert.equal(await callsOf(post('agent', body, { ...bearer, 'x-signature': 'x' })), 'wrong')
  assert.equal(await callsOf(post('agent', body, bearer)), 'blocked')
  assert.equal(await callsOf(app.inject({ method: 'GET', url: '/hooks/wake' })), '')
})

test('a client that was wrong too often has to wait, unless it sends a right token', async (t) => {
  const { post, waits, notes, lines } = await openThrottled(t, {
    policies: { github: policyFor('github', createProvider()) },
  })
  Object.assign(waits, { wrong: 42, blocked: 41 })
  for (const [endpoint, headers, retryAfter, failure] of [
    ['wake', wrongToken, '42', 'TOKEN_WRONG'],
    ['wake', {}, '41', 'TOKEN_MISSING'],
    ['github', { 'x-signature': 'x' }, '42', 'SIGNATURE_MISMATCH'],
    ['github', {}, '41', 'SIGNATURE_MISSING'],
  ] as const) {
    const answer = await post(endpoint, body, headers)
    assert.deepEqual(
      [answer.status, answer.body['code'], answer.headers['retry-after']],
      [429, 'TOO_MANY_TRIES', retryAfter],
    )
    const note = notes.at(-1)
    assert.deepEqual([note?.status, note?.code, note?.failure], [429, 'TOO_MANY_TRIES', failure])
    assert.equal(lines.all.at(-1)?.['failure'], failure)
  }
  assert.equal((await post('wake', body)).status, 200)
  assert.equal((await post('github', body, signed)).status, 200)
})

test('the rate of a client counts before authentication, and that of the endpoint after it', async (t) => {
  const { post, waits, calls, asked, notes } = await openThrottled(t, {
    policies: { github: { ...policyFor('github', createProvider()), rate }, wake: { rate } },
  })
  for (const [endpoint, headers, good] of [
    ['wake', bearer, 'takeOfClient right takeOfEndpoint'],
    ['wake', wrongToken, 'takeOfClient wrong'],
    ['github', signed, 'takeOfClient right takeOfEndpoint'],
    ['github', { 'x-signature': 'x' }, 'takeOfClient wrong'],
    ['github', {}, 'takeOfClient blocked'],
  ] as const) {
    calls.length = 0
    await post(endpoint, body, headers)
    assert.equal(calls.join(' '), good)
  }
  const reached = asked.length
  for (const name of ['takeOfEndpoint', 'takeOfClient'] as const) {
    waits[name] = 7
    for (const [endpoint, headers] of [
      ['wake', bearer],
      ['github', signed],
    ] as const) {
      const answer = await post(endpoint, body, headers)
      assert.deepEqual(
        [answer.status, answer.body['code'], answer.headers['retry-after']],
        [429, 'RATE_LIMITED', '7'],
      )
      const whose = name === 'takeOfClient' ? 'client' : 'endpoint'
      assert.match(
        notes.at(-1)?.reason ?? '',
        new RegExp(`more than endpoints\\.\\w+\\.rate\\.${whose} allows$`),
      )
    }
  }
  assert.equal(asked.length, reached)
  assert.equal((await post('agent', body)).status, 200, 'another endpoint has no rate')
})

test('a token over the rate of its endpoint is refused before its body is read', async (t) => {
  const { dial, waits } = await openThrottled(t, { policies: { wake: { rate } } })
  waits.takeOfEndpoint = 7
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
})

test('a handshake with a wrong secret counts as a wrong try, and no handshake clears the count', async (t) => {
  const answers: Record<string, Handshake> = {
    wrong: { status: 403, body: '', reason: 'the verify token is another one' },
    good: { status: 200, body: '', reason: 'the challenge was echoed' },
  }
  const answer = ({ query }: { query: Readonly<Record<string, unknown>> }) => answers[String(query['as'])]
  const provider = createProvider({ handshakes: { methods: ['GET'], unsigned: true, answer } })
  const { app, calls, waits } = await openThrottled(t, {
    policies: { github: { ...policyFor('github', provider), rate } },
  })
  const send = async (method: 'GET' | 'POST', as: string) => {
    calls.length = 0
    const { statusCode } = await app.inject({ method, url: `/hooks/github?as=${as}` })
    return [statusCode, ...calls]
  }
  assert.deepEqual(await send('GET', 'good'), [200, 'takeOfClient'])
  assert.deepEqual(await send('GET', 'wrong'), [403, 'takeOfClient', 'wrong'])
  assert.deepEqual(await send('POST', 'good'), [200, 'takeOfClient', 'blocked'])
  waits.wrong = 9
  waits.blocked = 9
  assert.deepEqual(await send('GET', 'wrong'), [429, 'takeOfClient', 'wrong'])
  assert.deepEqual(await send('GET', 'good'), [200, 'takeOfClient'])
  assert.deepEqual(await send('POST', 'good'), [429, 'takeOfClient', 'blocked'])
  waits.takeOfClient = 3
  assert.deepEqual(await send('GET', 'good'), [429, 'takeOfClient'])
})
