import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Answer,
  type AskOptions,
  configuration,
  gatewayToken,
  hookToken,
  install,
} from '../../test/installation.ts'

const addresses = [
  '/api/requests',
  '/api/requests/01a1fd97-8f22-7000-8029-fcfcbff544ad',
  '/api/runs',
  '/api/runs/x',
  '/api/events',
  '/api/events/x',
  '/api/deliveries',
  '/api/deliveries/x',
  '/api/sessions',
  '/api/sessions/main',
  '/api/status',
  '/api/route',
  '/api/generations',
  '/api/generations/1',
]

const actions = ['/api/reload', '/api/generations/1/rollback', '/api/runs/x/cancel', '/api/runs/x/resume']

/** Clients say who they are. */
const behindProxy = {
  'reveille.yaml': configuration.replace('gateway: {', 'gateway: { trustedProxies: [loopback],'),
}
const from = (client: string) => ({ 'x-forwarded-for': client })

function assertRefused({ status, body, headers }: Answer, expected: { status: number; code: string }) {
  const { error, requestId, ...rest } = body
  assert.deepEqual({ status, ...rest }, { status: expected.status, ok: false, code: expected.code })
  assert.equal(typeof error, 'string')
  assert.match(String(requestId), /^[0-9a-f-]{36}$/)
  assert.equal(headers['x-request-id'], requestId)
}

test('each gateway token of a list is accepted by the admin surface and the metrics', async (t) => {
  const old = 'test-gateway-token-before-rotation'
  const { ask } = await install(t, {
    'reveille.yaml': configuration.replace(`token: ${gatewayToken}`, `token: [${gatewayToken}, ${old}]`),
  })
  for (const token of [gatewayToken, old]) {
    for (const path of ['/api/status', '/metrics'])
      assert.equal((await ask(path, { headers: { authorization: `Bearer ${token}` } })).status, 200, path)
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
    assertRefused(answer, { status: 401, code: 'UNAUTHORIZED' })
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  }
  const requests: [string, AskOptions][] = [
    ...addresses.map((address): [string, AskOptions] => [address, {}]),
    ...actions.map((address): [string, AskOptions] => [address, { method: 'POST' }]),
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
    assertRefused(answer, { status: 401, code: 'UNAUTHORIZED' })
  }
})

test('after twenty wrong tokens of a client it is 429 with the time to wait, until the right one comes', async (t) => {
  const { ask, post } = await install(t, behindProxy)
  const wrong = { authorization: 'Bearer wrong', ...from('192.0.2.1') }
  const right = { authorization: `Bearer ${gatewayToken}`, ...from('192.0.2.1') }
  const tryWrong = () => ask('/api/runs', { headers: wrong })
  for (let tries = 1; tries <= 20; tries += 1)
    assertRefused(await tryWrong(), { status: 401, code: 'UNAUTHORIZED' })
  const refused = await ask('/api/nowhere', { method: 'POST', headers: from('192.0.2.1'), payload: '{' })
  assertRefused(refused, { status: 429, code: 'TOO_MANY_TRIES' })
  const seconds = Number(refused.headers['retry-after'])
  assert.ok(seconds > 0 && seconds <= 60, `${seconds}`)
  assert.equal(refused.headers['cache-control'], 'no-store')

  const other = await ask('/api/runs', { headers: { ...wrong, ...from('192.0.2.2') } })
  assertRefused(other, { status: 401, code: 'UNAUTHORIZED' })
  const hook = await post('/hooks/wake', { text: 'x' }, { ...from('192.0.2.1') })
  assert.equal(hook.status, 200, 'the hook surface counts for itself')
  assertRefused(await tryWrong(), { status: 429, code: 'TOO_MANY_TRIES' })

  assert.equal((await ask('/api/runs', { headers: right })).status, 200)
  assertRefused(await tryWrong(), { status: 401, code: 'UNAUTHORIZED' })
})

test('the token is accepted as a Bearer or as x-gateway-token, and no reply may be cached', async (t) => {
  const { ask } = await install(t, {})
  const forms: Record<string, string>[] = [
    { authorization: `bearer ${gatewayToken}` },
    { 'x-gateway-token': gatewayToken },
  ]
  for (const headers of forms) {
    const answer = await ask('/api/runs', { headers })
    assert.deepEqual([answer.status, answer.body], [200, { items: [] }])
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
})

test('unknown addresses and wrong methods are refused in the same shape as by the hook surface', async (t) => {
  const { ask } = await install(t, {})
  const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' }
  for (const path of ['/api', '/api/', '/api/nowhere', '/api/run', '/api/runs/x/y']) {
    assertRefused(await ask(path), { status: 404, code: 'NOT_FOUND' })
    assertRefused(await ask(path, { method: 'POST', headers, payload: '{' }), {
      status: 404,
      code: 'NOT_FOUND',
    })
  }
  for (const kind of ['requests', 'runs', 'events', 'deliveries']) {
    for (const id of ['x', '%00', "'", '01a1fd97-8f22-7000-8029-fcfcbff544ad', '__proto__']) {
      assertRefused(await ask(`/api/${kind}/${id}`), { status: 404, code: 'NOT_FOUND' })
    }
  }
  const taken: Readonly<Record<string, string>> = { '/api/deliveries': 'POST', '/api/route': 'PUT' }
  for (const address of addresses) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      if (taken[address] === method) continue
      const answer = await ask(address, { method, headers, payload: '{' })
      assertRefused(answer, { status: 405, code: 'METHOD_NOT_ALLOWED' })
      assert.equal(answer.headers['allow'], ['GET', 'HEAD', taken[address]].filter(Boolean).join(', '))
    }
  }
  for (const address of actions) {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const answer = await ask(address, { method, headers })
      assertRefused(answer, { status: 405, code: 'METHOD_NOT_ALLOWED' })
      assert.equal(answer.headers['allow'], 'POST')
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
  for (const path of [...addresses, ...actions, '/api', '/api/nowhere']) {
    for (const headers of tried) {
      const answer = await ask(path, { headers })
      assertRefused(answer, { status: 404, code: 'NOT_FOUND' })
      assert.equal(answer.headers['www-authenticate'], undefined)
    }
  }
  assert.equal((await ask('/healthz')).status, 200)
})
