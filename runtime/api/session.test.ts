/** A browser that signs in, what its cookie opens, and what other sites can do with it. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type Answer,
  configuration,
  gatewayToken,
  type Installation,
  install,
} from '../../test/installation.ts'

const origin = 'http://localhost:80'
const old = 'test-gateway-token-before-rotation'

interface SignedIn extends Answer {
  readonly cookie: string
  /** The half that the page keeps. */
  readonly key: string
  readonly attributes: readonly string[]
}

/** The headers of a page that is signed in. */
const pageOf = ({ cookie, key }: Pick<SignedIn, 'cookie' | 'key'>) => ({ cookie, 'x-reveille-key': key })

async function signIn(
  { ask }: Pick<Installation, 'ask'>,
  token: unknown = gatewayToken,
  headers: Record<string, string> = { origin },
): Promise<SignedIn> {
  const answer = await ask('/api/session', { method: 'POST', headers, payload: JSON.stringify({ token }) })
  const [cookie = '', ...attributes] = String(answer.headers['set-cookie'] ?? '').split('; ')
  return { ...answer, cookie, key: String(answer.body['key'] ?? ''), attributes }
}

async function open(t: TestContext, yaml = configuration) {
  const installed = await install(t, { 'reveille.yaml': yaml })
  const statusBy = async (cookie: string, key: string, path = '/api/status') =>
    (await installed.ask(path, { headers: pageOf({ cookie, key }) })).status
  return { ...installed, statusBy }
}

test('a sign-in with the gateway token sets a cookie for twelve hours that opens the API', async (t) => {
  const installed = await open(t)
  const before = Date.now()
  const { status, body, cookie, key, attributes, headers } = await signIn(installed)
  assert.equal(status, 200)
  assert.deepEqual(attributes, ['Max-Age=43200', 'Path=/', 'HttpOnly', 'SameSite=Strict'])
  assert.equal(headers['cache-control'], 'no-store')
  const left = Number(body['until']) - before
  assert.ok(left >= 43_200_000 && left < 43_260_000, `${left}`)
  assert.equal(await installed.statusBy(cookie, key), 200)
  assert.equal(await installed.statusBy(`other=1; ${cookie}; more=2`, key), 200)
  assert.equal(await installed.statusBy(cookie, key, '/metrics'), 401, 'it opens nothing else')
  for (const text of [installed.log(), cookie, JSON.stringify(body)]) assert.ok(!text.includes(gatewayToken))
})

test('the cookie alone opens nothing, since a browser sends it to every port, and guesses nothing either', async (t) => {
  const installed = await open(t)
  const [one, other] = [await signIn(installed), await signIn(installed)]
  for (let times = 0; times < 30; times += 1) {
    const { status } = await installed.ask('/api/status', { headers: { cookie: one.cookie } })
    assert.equal(status, 401)
  }
  for (const path of ['/api/stream', '/api/runs', '/api/session'])
    assert.equal((await installed.ask(path, { headers: { cookie: one.cookie } })).status, 401, path)
  assert.equal(await installed.statusBy(one.cookie, other.key), 401, 'the half of another sign-in')
  assert.equal(await installed.statusBy(one.cookie, one.key), 200)
  const { headers } = await installed.ask('/api/status', { headers: pageOf(one) })
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
})

test('a cookie that was changed, or made by another token, opens nothing', async (t) => {
  const installed = await open(t)
  const { cookie, key } = await signIn(installed)
  const [name = '', value = ''] = cookie.split('=')
  const [until = '', id = '', signature = ''] = value.split('.')
  const others = [
    `${name}=`,
    `${name}=${until}`,
    `${name}=${Number(until) + 1}.${id}.${signature}`,
    `${name}=${until}.${id.slice(1)}A.${signature}`,
    `${name}=${until}.${id}.${signature.slice(0, -1)}`,
    `${name}=${until}.${id}.${signature}x`,
    `${name}=${until}.${id}.${gatewayToken}`,
    `${name}=${until}.${id}.${key}`,
    `x${cookie}`,
  ]
  for (const other of others) assert.equal(await installed.statusBy(other, key), 401, other)
  assert.equal(await installed.statusBy(cookie, key), 200)
})

test('a cookie ends with the token that was given for it, and with no other', async (t) => {
  const both = configuration.replace(`token: ${gatewayToken}`, `token: [${gatewayToken}, ${old}]`)
  const installed = await open(t, both)
  const [one, other] = [await signIn(installed), await signIn(installed, old)]
  const statuses = async () => [
    await installed.statusBy(one.cookie, one.key),
    await installed.statusBy(other.cookie, other.key),
  ]
  assert.deepEqual(await statuses(), [200, 200])
  await installed.write('reveille.yaml', configuration)
  assert.equal((await installed.gateway.reload()).ok, true)
  assert.deepEqual(await statuses(), [200, 401])
})

test('a wrong token signs nobody in, and what could be none is refused with the field', async (t) => {
  const installed = await open(t)
  const wrong = await signIn(installed, 'wrong')
  assert.deepEqual([wrong.status, wrong.body['code'], wrong.cookie], [401, 'UNAUTHORIZED', ''])
  for (const [token, message] of [
    [null, 'is required'],
    [5, 'must be a string'],
    ['  ', 'must not be blank'],
  ]) {
    const { status, body } = await signIn(installed, token)
    assert.deepEqual([status, body['details']], [400, [{ pointer: '/token', message }]])
  }
  const large = await signIn(installed, 'x'.repeat(10_000))
  assert.deepEqual([large.status, large.body['code']], [413, 'BODY_TOO_LARGE'])
})

test('a request that changes something needs the page of this gateway, if a cookie lets it in', async (t) => {
  const installed = await open(t)
  const page = pageOf(await signIn(installed))
  const own = { origin }
  const change = async (headers: Record<string, string>) => {
    const { status, body } = await installed.ask('/api/reload', {
      method: 'POST',
      headers: { ...page, ...headers },
    })
    return status === 403 ? body['code'] : status
  }
  assert.equal(await change(own), 200)
  const foreigners: Record<string, string>[] = [
    {},
    { ...own, origin: 'http://evil.example' },
    { ...own, origin: 'http://localhost:8080' },
    { ...own, origin: 'null' },
    { ...own, origin: '' },
  ]
  for (const headers of foreigners) assert.equal(await change(headers), 'CROSS_SITE', JSON.stringify(headers))
  const unknown = await installed.ask('/api/nowhere', { method: 'POST', headers: page })
  assert.equal(unknown.status, 403, 'before 404')
  const byToken = { authorization: `Bearer ${gatewayToken}`, origin: 'http://evil.example' }
  assert.equal(await change(byToken), 200, 'a token in a header is sent by nobody else')
  const foreign = await signIn(installed, gatewayToken, { origin: 'http://evil.example' })
  assert.deepEqual([foreign.status, foreign.cookie], [403, ''])
})

test('signing out ends the sign-in at the gateway, also over a restart, and no other one', async (t) => {
  const installed = await open(t)
  const [one, other] = [await signIn(installed), await signIn(installed)]
  const signOut = (headers: Record<string, string>) =>
    installed.ask('/api/session', { method: 'DELETE', headers })
  assert.equal((await signOut({ cookie: one.cookie, origin })).status, 401)
  assert.equal((await signOut(pageOf(one))).status, 403, 'it needs the page of this gateway')
  const { status, headers } = await signOut({ ...pageOf(one), origin })
  assert.equal(status, 200)
  assert.equal(
    headers['set-cookie'],
    'reveille_session=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
  )
  const statuses = async ({ ask }: Pick<Installation, 'ask'>) => [
    (await ask('/api/status', { headers: pageOf(one) })).status,
    (await ask('/api/status', { headers: pageOf(other) })).status,
  ]
  assert.deepEqual(await statuses(installed), [401, 200])
  await installed.gateway.close({ graceMs: 0 })
  assert.deepEqual(await statuses(await install(t, {}, { folder: installed.folder })), [401, 200])
})

test('behind a trusted proxy that takes https the cookie is secure, and pages of its address are this gateway', async (t) => {
  const proxied = configuration.replace('gateway: {', 'gateway: { trustedProxies: [loopback],')
  const installed = await open(t, proxied)
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'hooks.example.com' }
  const page = { ...forwarded, origin: 'https://hooks.example.com' }
  const { status, cookie, key, attributes } = await signIn(installed, gatewayToken, page)
  assert.deepEqual([status, attributes.includes('Secure')], [200, true])
  const change = async (headers: Record<string, string>) =>
    (
      await installed.ask('/api/reload', {
        method: 'POST',
        headers: { ...pageOf({ cookie, key }), ...headers },
      })
    ).status
  assert.equal(await change(page), 200)
  assert.equal(await change({ ...page, origin: 'http://hooks.example.com' }), 403)
  const direct = await open(t)
  const untrusted = await signIn(direct, gatewayToken, { ...forwarded, origin: 'http://localhost:80' })
  assert.deepEqual(
    [untrusted.status, untrusted.attributes.includes('Secure')],
    [200, false],
    'a client that is no trusted proxy says nothing about the connection',
  )
})
