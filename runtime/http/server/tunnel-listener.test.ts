import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { openTunnelListener } from '../index.ts'
import { bearer, openSurface, type SnapshotOptions, type SurfaceParts } from '../surface-fixture.ts'

async function openBehindTunnel(
  t: Parameters<typeof openSurface>[0],
  options: SnapshotOptions & SurfaceParts = {},
  clientHeader = 'cf-connecting-ip',
) {
  const fixture = await openSurface(t, { isBoundToLoopback: true, ...options })
  const listener = await openTunnelListener(fixture.surface, { port: 0, clientHeader })
  t.after(() => listener.close())
  async function send(path: string, headers: Record<string, string> = bearer, method = 'POST') {
    const response = await fetch(`${listener.address}${path}`, {
      method,
      headers: { connection: 'close', ...headers },
      ...(method === 'POST' && { body: '{}' }),
    })
    const body = (await response.json()) as { code?: string }
    return { status: response.status, code: body.code }
  }
  return { ...fixture, listener, send }
}

const open = { github: { auth: { value: 'none', policy: 'github' } } } as const

test('behind a tunnel only hooks are served; every other address is 404', async (t) => {
  const { app, send, entries } = await openBehindTunnel(t)
  assert.equal((await app.inject('/healthz')).statusCode, 200)
  for (const path of ['/', '/healthz', '/readyz', '/metrics', '/console', '/api/status', '/other']) {
    assert.deepEqual(await send(path, bearer, 'GET'), { status: 404, code: 'NOT_FOUND' }, path)
    assert.deepEqual(await send(path), { status: 404, code: 'NOT_FOUND' }, path)
  }
  assert.equal((await send('/hooks/wake')).status, 200)
  assert.equal((await send('/hooks/wake', {})).status, 401)
  assert.equal(entries.length, 1)
})

test('an endpoint without authentication is refused behind a tunnel, with a token too, and served to this machine', async (t) => {
  const { send, dial, entries, noted } = await openBehindTunnel(t, { policies: open })
  assert.deepEqual(await send('/hooks/github', {}), { status: 403, code: 'NOT_THROUGH_TUNNEL' })
  assert.deepEqual(await send('/hooks/github', bearer), { status: 403, code: 'NOT_THROUGH_TUNNEL' })
  assert.deepEqual(await send('/hooks/github', {}, 'GET'), { status: 403, code: 'NOT_THROUGH_TUNNEL' })
  assert.equal(entries.length, 0)
  assert.equal(noted[0]?.failure, 'NOT_LOCAL')
  const sender = await dial()
  sender.send('POST /hooks/github HTTP/1.1', 'Host: 127.0.0.1', 'Content-Length: 2', '', '{}')
  assert.match(await sender.received('}'), /^HTTP\/1\.1 200 /)
})

test('behind a tunnel the client is the last address that the tunnel has added, and never this machine', async (t) => {
  const { send, resolved } = await openBehindTunnel(t)
  const senderOf = async (headers: Record<string, string>) => {
    await send('/hooks/wake', { ...bearer, ...headers })
    return resolved.at(-1)?.sender
  }
  assert.equal(await senderOf({ 'cf-connecting-ip': '203.0.113.7' }), '203.0.113.7')
  assert.equal(await senderOf({ 'cf-connecting-ip': '127.0.0.1, 203.0.113.7' }), '203.0.113.7')
  assert.equal(await senderOf({ 'x-forwarded-for': '203.0.113.7' }), '')
  assert.equal(await senderOf({}), '')
})

test('a tunnel of another kind names its client in X-Forwarded-For', async (t) => {
  const { send, resolved } = await openBehindTunnel(t, {}, 'x-forwarded-for')
  await send('/hooks/wake', {
    ...bearer,
    'x-forwarded-for': '10.0.0.1, 203.0.113.7',
    'cf-connecting-ip': '10.0.0.2',
  })
  assert.equal(resolved.at(-1)?.sender, '203.0.113.7')
})

test('a sender behind a tunnel that waits to be asked for its body is asked', async (t) => {
  const { listener } = await openBehindTunnel(t)
  const asking = request(`${listener.address}/hooks/wake`, {
    method: 'POST',
    headers: { ...bearer, expect: '100-continue', connection: 'close' },
  })
  const status = Promise.withResolvers<number | undefined>()
  asking.once('continue', () => asking.end('{}'))
  asking.once('response', (response) => status.resolve(response.resume().statusCode))
  asking.flushHeaders()
  assert.equal(await status.promise, 200)
})

test('a port that is taken is reported with the option that chooses another one', async (t) => {
  const { surface, listener } = await openBehindTunnel(t)
  const port = Number(new URL(listener.address).port)
  await assert.rejects(openTunnelListener(surface, { port, clientHeader: 'x-forwarded-for' }), {
    code: 'PORT_IN_USE',
    message: /Give --tunnel-port a free one/,
  })
})
