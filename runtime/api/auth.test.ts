import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Answer,
  type AskOptions,
  configuration,
  gatewayToken,
  hookToken,
  install,
  until,
} from '../../test/installation.ts'
import type { IssueRecord, Page } from '../store/port.ts'
import type { RouteDeclaration } from './routes/declaration.ts'
import { routes } from './routes/index.ts'

const pathOf = (path: string) => `/api${path.replaceAll(/:\w+/g, '1')}`
const declared = Object.values<RouteDeclaration>(routes)
/** The methods that each address takes. */
const addresses = Object.entries(Object.groupBy(declared, ({ path }) => pathOf(path))).map(
  ([address, given = []]) => ({ address, methods: given.map(({ method }) => method) }),
)
const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const isSignIn = (address: string, method: string) => address === '/api/session' && method === 'POST'

/** Clients say who they are. */
const behindProxy = {
  'reveille.yaml': configuration.replace('gateway: {', 'gateway: { trustedProxies: [loopback],'),
}
const from = (client: string) => ({ 'x-forwarded-for': client })

function assertRefused({ status, body, headers }: Answer, expected: number, code: string) {
  const { error, requestId, ...rest } = body
  assert.deepEqual({ status, ...rest }, { status: expected, ok: false, code })
  assert.equal(typeof error, 'string')
  assert.match(String(requestId), /^[0-9a-f-]{36}$/)
  assert.equal(headers['x-request-id'], requestId)
}

test('each gateway token of a list is accepted in each form, and no reply may be cached', async (t) => {
  const old = 'test-gateway-token-before-rotation'
  const { ask } = await install(t, {
    'reveille.yaml': configuration.replace(`token: ${gatewayToken}`, `token: [${gatewayToken}, ${old}]`),
  })
  for (const token of [gatewayToken, old]) {
    const forms: Record<string, string>[] = [
      { authorization: `bearer ${token}` },
      { 'x-gateway-token': token },
    ]
    for (const headers of forms) {
      const answer = await ask('/api/runs', { headers })
      assert.deepEqual([answer.status, answer.body], [200, { items: [] }])
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.equal((await ask('/metrics', { headers })).status, 200)
    }
  }
  assert.equal((await ask('/metrics', { headers: { authorization: `Bearer ${old}x` } })).status, 401)
})

test('without the gateway token every address, known or not, answers 401 before anything else', async (t) => {
  const { ask } = await install(t, {})
  const wrong: Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: `Basic ${gatewayToken}` },
    { authorization: `Bearer ${gatewayToken}x` },
    { authorization: `Bearer ${hookToken}` },
    { 'x-gateway-token': hookToken },
    { authorization: 'Bearer wrong', 'x-gateway-token': gatewayToken },
  ]
  for (const headers of wrong) {
    const answer = await ask('/api/runs', { headers })
    assertRefused(answer, 401, 'UNAUTHORIZED')
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  }
  const requests: [string, AskOptions][] = [
    ['/api', {}],
    ['/api/nowhere', {}],
    ['/api/runs?colour=red', {}],
    ['/api/runs?cursor=x', {}],
    ['/api/runs', { method: 'POST', payload: '{' }],
    ['/api/nowhere', { method: 'POST', payload: '{' }],
    [`/api/runs?token=${gatewayToken}`, {}],
  ]
  for (const [path, options] of requests) {
    const answer = await ask(path, { ...options, headers: { 'content-type': 'application/json' } })
    assertRefused(answer, 401, 'UNAUTHORIZED')
  }
})

test('without the gateway token every declared address answers 401 to every method', async (t) => {
  const { ask } = await install(t, {})
  assert.ok(addresses.length > 20)
  for (const { address } of addresses) {
    for (const method of everyMethod) {
      if (isSignIn(address, method)) continue
      for (const path of [address, `${address}?x=1`]) {
        const answer = await ask(path, { method, headers: {}, ...(method !== 'GET' && { payload: '{' }) })
        assert.equal(answer.status, 401, `${method} ${path}`)
        assert.equal(answer.headers['allow'], undefined)
        if (method !== 'HEAD') assertRefused(answer, 401, 'UNAUTHORIZED')
      }
    }
  }
})

const cookie = `reveille_session=${Date.now() + 3_600_000}.${'a'.repeat(43)}`
const signIn = (token: string): AskOptions => ({
  method: 'POST',
  headers: { origin: 'http://localhost:80' },
  payload: JSON.stringify({ token }),
})
/** Each way to try a token, with a wrong and a right one. */
const ways: Readonly<Record<string, readonly [path: string, wrong: AskOptions, right: AskOptions]>> = {
  'a bearer token': [
    '/api/runs',
    { headers: { authorization: 'Bearer wrong' } },
    { headers: { authorization: `Bearer ${gatewayToken}` } },
  ],
  'a header of its own': [
    '/api/runs',
    { headers: { 'x-gateway-token': 'wrong' } },
    { headers: { 'x-gateway-token': gatewayToken } },
  ],
  'a sign-in': ['/api/session', signIn('wrong'), signIn(gatewayToken)],
  'a cookie': [
    '/api/runs',
    { headers: { cookie, 'x-reveille-key': 'x' } },
    { headers: { authorization: `Bearer ${gatewayToken}` } },
  ],
  'the metrics': [
    '/metrics',
    { headers: { authorization: 'Bearer wrong' } },
    { headers: { authorization: `Bearer ${gatewayToken}` } },
  ],
  'a probe': [
    '/readyz',
    { headers: { authorization: 'Bearer wrong' } },
    { headers: { authorization: `Bearer ${gatewayToken}` } },
  ],
}
for (const [way, [path, wrong, right]] of Object.entries(ways))
  test(`guessing the gateway token by ${way} is slowed, logged and an issue, and shows no right guess`, async (t) => {
    const { ask, read, log } = await install(t, behindProxy)
    const as = (client: string, options: AskOptions) =>
      ask(path, { ...options, headers: { ...options.headers, ...from(client) } })
    for (let tries = 1; tries <= 20; tries += 1)
      assert.notEqual((await as('192.0.2.1', wrong)).status, 429, `${tries}`)
    for (const guess of [wrong, right]) {
      const { status, headers, body } = await as('192.0.2.1', guess)
      const expected = path === '/readyz' ? undefined : 'TOO_MANY_TRIES'
      assert.deepEqual([status, body['code']], [429, expected])
      const seconds = Number(headers['retry-after'])
      assert.ok(seconds > 0 && seconds <= 60, `${seconds}`)
    }
    assert.equal((await ask('/api/status', { headers: from('192.0.2.1') })).status, 429, 'without a token')
    assert.equal((await as('192.0.2.2', right)).status, 200, 'another client is not concerned')
    assert.equal(
      (await ask('/readyz', { headers: from('192.0.2.1') })).status,
      200,
      'nor is a probe without a token',
    )
    const lines = log()
      .split('\n')
      .filter((line) => line.includes('"token-guessing"'))
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)['client']),
      ['192.0.2.1'],
    )
    const issue = await until(async () => {
      const { items } = await read<Page<IssueRecord>>('/api/issues')
      return items[0]
    }, 'an issue')
    assert.deepEqual([issue.code, issue.severity], ['TOKEN_GUESSING', 'suspicious'])
    assert.match(issue.cause, /192\.0\.2\.1/)
    const events = await read<Page<unknown>>('/api/events')
    assert.deepEqual(events.items, [], 'the agent is not woken')
  })

test('a right token of the metrics buys no further guesses at the gateway token', async (t) => {
  const metrics = 'test-metrics-token-of-prometheus'
  const yaml = configuration.replace('gateway: {', `gateway: { metrics: { token: ${metrics} },`)
  const { ask } = await install(t, { 'reveille.yaml': yaml })
  const seen = new Set<number>()
  for (let tries = 0; tries < 25; tries += 1) {
    seen.add((await ask('/api/runs', { headers: { authorization: 'Bearer wrong' } })).status)
    await ask('/metrics', { headers: { authorization: `Bearer ${metrics}` } })
  }
  assert.deepEqual([...seen], [401, 429])
})

test('unknown addresses and wrong methods are refused in the same shape as by the hook surface', async (t) => {
  const { ask } = await install(t, {})
  const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' }
  for (const path of ['/api', '/api/', '/api/nowhere', '/api/run', '/api/runs/x/y']) {
    assertRefused(await ask(path), 404, 'NOT_FOUND')
    assertRefused(await ask(path, { method: 'POST', headers, payload: '{' }), 404, 'NOT_FOUND')
  }
  for (const kind of ['requests', 'runs', 'events', 'deliveries']) {
    for (const id of ['x', '%00', "'", '01a1fd97-8f22-7000-8029-fcfcbff544ad', '__proto__']) {
      assertRefused(await ask(`/api/${kind}/${id}`), 404, 'NOT_FOUND')
    }
  }
  for (const { address, methods } of addresses) {
    const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method))
    for (const method of everyMethod) {
      if (allowed.includes(method) || method === 'HEAD') continue
      const answer = await ask(address, { method, headers, payload: '{' })
      assertRefused(answer, 405, 'METHOD_NOT_ALLOWED')
      assert.equal(answer.headers['allow'], allowed.join(', '), address)
    }
  }
  const head = await ask('/api/runs', { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('without gateway.auth.token there is no admin surface', async (t) => {
  const { ask } = await install(t, { 'reveille.yaml': `hooks: { enabled: true, token: ${hookToken} }\n` })
  const tried: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${hookToken}` },
    { authorization: 'Bearer undefined' },
  ]
  for (const path of [...addresses.map(({ address }) => address), '/api', '/api/nowhere', '/console']) {
    for (const headers of tried) {
      const answer = await ask(path, { headers })
      assertRefused(answer, 404, 'NOT_FOUND')
      assert.equal(answer.headers['www-authenticate'], undefined)
    }
  }
  assertRefused(await ask('/api/session', { method: 'POST', payload: '{' }), 404, 'NOT_FOUND')
  assert.equal((await ask('/healthz')).status, 200)
})
