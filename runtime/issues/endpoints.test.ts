import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestFacts, RequestOutcome } from '../http/index.ts'
import { createEndpointWatch } from './endpoints.ts'
import type { Ledger, Problem } from './ledger.ts'

const start = Date.UTC(2026, 0, 31, 12)

const snapshot = {
  endpoints: {
    github: { verify: { provider: 'github', secret: 'x' } },
    linear: { verify: { provider: 'linear' } },
    chat: { expectEvery: '1h' },
    bot: { bots: ['me'] },
  },
  mappings: [{ path: 'orders' }, { path: 'any/:name' }, {}],
  policyOf: (name: string) => (snapshot.endpoints as Record<string, unknown>)[name],
  effectivePolicyOf: (name: string) =>
    name === 'linear'
      ? { verify: { policy: 'linear', value: { name: 'linear' } } }
      : name === 'bot'
        ? { bots: {} }
        : name === 'chat'
          ? { expectEvery: { policy: 'chat', value: 1 } }
          : undefined,
}

function createFixture() {
  const noted: Problem[] = []
  const resolved: string[] = []
  const expected: string[] = []
  const watch = createEndpointWatch({
    ledger: {
      note: (problem: Problem) => noted.push(problem),
      resolve: (code: string, subject: string) => resolved.push(`${code}:${subject}`),
    } as unknown as Ledger,
    onExpected: (policy) => expected.push(policy),
  })
  const state = { now: start }
  function request(endpoint: string, result: object, { ms = 5, headers = {}, ...more } = {}) {
    const context = {
      endpoint,
      receivedAt: state.now,
      requestId: 'id-1',
      headers,
      live: { snapshot },
      isInternal: false,
      ...more,
    }
    watch.concluded(context as unknown as RequestFacts, result as RequestOutcome, ms)
  }
  const keys = () => noted.map(({ code, subject }) => `${code}:${subject}`)
  return { watch, state, noted, resolved, expected, request, keys }
}

const refused = (failure: string, reason: string) => ({
  outcome: 'refused',
  code: 'UNAUTHORIZED',
  failure,
  reason,
})

test('a wrong signature names the provider, its header and the check; a missing token the missing secret', () => {
  const { noted, keys, request } = createFixture()
  request('github', refused('SIGNATURE_MISMATCH', 'the signature does not match'))
  request('linear', refused('TOKEN_MISSING', 'no token came'))
  request('orders', refused('TOKEN_WRONG', 'the token is none of those that are configured'))
  assert.deepEqual(keys(), ['SIGNATURE_REFUSED:github', 'TOKEN_REFUSED:linear', 'TOKEN_REFUSED:orders'])
  const [signature, unset, token] = noted.map(({ describe }) => describe())
  assert.equal(
    signature?.cause,
    'Requests to /github are refused (github, header x-hub-signature-256): the signature does not match.',
  )
  assert.equal(signature?.command, 'reveille doctor signature --endpoint github --request sent.http')
  assert.match(
    unset?.cause ?? '',
    /no token came, and \/linear takes a token because it has no secret of linear/,
  )
  assert.match(unset?.label ?? '', /endpoints\.linear\.verify\.secret/)
  assert.equal(token?.command, 'reveille requests --endpoint orders --outcome refused')
})

test('names that a client made up open nothing', () => {
  const { watch, keys, request } = createFixture()
  for (const name of ['made-up', 'made/up/deeper', ''])
    request(name, refused('TOKEN_MISSING', 'no token came'))
  request('made-up', { outcome: 'refused', code: 'NOT_FOUND' })
  assert.deepEqual(keys(), [])
  assert.equal(watch.seenAt('made-up'), undefined)
  request('any/thing', refused('TOKEN_MISSING', 'no token came'))
  assert.deepEqual(keys(), ['TOKEN_REFUSED:any/:name'], 'what a pattern covers has the name of the pattern')
})

test('a success ends the issues of its endpoint and its mapping', () => {
  const accepted = { outcome: 'accepted', actions: [{ action: { mapping: 'order' } }] }
  const { resolved, request } = createFixture()
  request('orders', accepted)
  assert.deepEqual(resolved.sort(), [
    'BODY_REFUSED:orders',
    'SIGNATURE_REFUSED:orders',
    'TOKEN_REFUSED:orders',
    'TRANSFORM_FAILING:order',
  ])
})

test('an endpoint is seen when an authenticated request comes, whatever becomes of it', () => {
  const { watch, state, expected, request } = createFixture()
  request('chat', refused('TOKEN_WRONG', 'wrong'))
  request('chat', { outcome: 'handshake' })
  assert.equal(watch.seenAt('chat'), undefined)
  state.now += 1000
  request('chat', { outcome: 'ignored', reason: 'no mapping' })
  assert.equal(watch.seenAt('chat'), start + 1000)
  assert.deepEqual(expected, ['chat'])
})

test('a sender repeats itself when three deliveries of an hour came again, and are a tenth of all', () => {
  const repeated = (key: string, isGiven: boolean) => ({
    outcome: 'duplicate',
    actions: [{ action: { dedupe: { key, isGiven } } }],
  })
  const { state, noted, keys, resolved, watch, request } = createFixture()
  // The mapping's own key makes these the same, on purpose.
  for (let n = 0; n < 10; n++) request('orders', repeated('daily', false))
  for (let n = 0; n < 10; n++) request('orders', repeated('daily', false), { deliveryId: `d-${n}` } as never)
  assert.deepEqual(keys(), [])
  for (let n = 0; n < 2; n++) request('chat', repeated('a', true))
  request('chat', { outcome: 'failed', code: 'STORE_UNAVAILABLE', status: 503 }, { ms: 4000 })
  assert.deepEqual(keys(), [])
  request('chat', repeated('["d-1",0]', false), { deliveryId: 'd-1' } as never)
  assert.deepEqual(keys(), ['DUPLICATES:chat'])
  assert.equal(
    noted[0]?.describe().cause,
    'The sender to /chat repeats deliveries (3 of 4 requests within an hour): 1 were answered with an error of the server.',
  )
  assert.equal(noted[0]?.describe().command, 'reveille requests --endpoint chat --outcome failed')
  state.now += 3_600_000
  watch.endHours(state.now)
  assert.deepEqual(
    resolved.filter((key) => key === 'DUPLICATES:chat'),
    [],
  )
  state.now += 3_600_000
  watch.endHours(state.now)
  assert.ok(resolved.includes('DUPLICATES:chat'))
})

test('a loop is a request of a run of the gateway, or echoes where no bots are named', () => {
  const { keys, request } = createFixture()
  const loop = { outcome: 'ignored', reason: 'an echo', isLoop: true }
  for (const endpoint of ['chat', 'bot']) for (let n = 0; n < 2; n++) request(endpoint, loop)
  assert.deepEqual(keys(), [])
  for (const endpoint of ['chat', 'bot']) request(endpoint, loop)
  assert.deepEqual(keys(), ['LOOP:/chat'])
  request('orders', loop, { headers: { 'x-reveille-run': 'r' } })
  assert.deepEqual(keys(), ['LOOP:/chat', 'LOOP:/orders'])
})

test('a replay ends what its mapping was blamed for, and says nothing of the sender', () => {
  const { watch, keys, resolved, request } = createFixture()
  const replay = { replay: { original: 'id-0', dedupe: 'own' }, isInternal: true } as never
  request('orders', { outcome: 'failed', code: 'TRANSFORM_FAILED', mapping: 'order', reason: 'boom' }, replay)
  request('orders', { outcome: 'accepted', actions: [{ action: { mapping: 'order' } }] }, replay)
  assert.deepEqual(keys(), ['TRANSFORM_FAILING:order'])
  assert.deepEqual(resolved, ['TRANSFORM_FAILING:order'])
  assert.equal(watch.seenAt('orders'), undefined)
})

test('a right signature at a wrong time leads to the clock', () => {
  const { noted, request } = createFixture()
  request('github', refused('TIMESTAMP_OUTSIDE', 'the time of the signature lies outside the tolerance'))
  const next = noted[0]?.describe()
  assert.match(next?.label ?? '', /clock/)
  assert.equal(next?.command, 'date -u')
})
