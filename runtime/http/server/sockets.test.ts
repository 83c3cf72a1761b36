import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { lingerBytes } from '../reply/linger.ts'
import { createSnapshot, openSurface, token, wake } from '../surface-fixture.ts'
import { createApp } from './server.ts'

const host = 'Host: x'
const auth = `Authorization: Bearer ${token}`
const end = ['', '']

function post(path: string, body: string, ...headers: string[]): string {
  return [`POST ${path} HTTP/1.1`, host, `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n')
}

test('neither a silent connection nor a request that never ends keeps the server from closing', {
  timeout: 10_000,
}, async (t) => {
  const timers = new Map<number, () => void>()
  const armed = Promise.withResolvers<void>()
  const app = createApp(() => [], {
    setTimeout(callback, ms) {
      timers.set(ms, callback)
      if (timers.size === 2) armed.resolve()
    },
    clearTimeout: () => timers.clear(),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const dial = async (text: string) => {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    const [server] = await accepted
    socket.write(text)
    if (text !== '') while (server.bytesRead === 0) await new Promise((go) => setImmediate(go))
    return server
  }
  const silent = await dial('')
  const slow = await dial('GET / HTTP/1.1\r\n')
  const closed = app.close()
  await armed.promise
  timers.get(1000)?.()
  assert.deepEqual([silent.destroyed, slow.destroyed], [true, false])
  timers.get(30_000)?.()
  await closed
  assert.equal(timers.size, 0)
})

test('401 comes before the body: a sender that has sent nothing of it already has its answer', async (t) => {
  const { dial, timers } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, 'Content-Length: 1000', ...end)
  assert.match(await sender.received('UNAUTHORIZED'), /^HTTP\/1\.1 401 /)
  assert.equal(timers.running, 0)
})

test('a declared length over the limit is refused with 413 before the body', async (t) => {
  const { dial, resolved } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Content-Length: 99999999', ...end)
  const head = await sender.received('BODY_TOO_LARGE')
  assert.match(head, /^HTTP\/1\.1 413 /)
  assert.match(head, /connection: close/i)
  assert.equal(resolved.length, 0)
})

test('413 comes in the middle of a chunked body', async (t) => {
  const { dial, timers } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Transfer-Encoding: chunked', ...end)
  sender.send('400', 'x'.repeat(1024), '')
  await timers.armed()
  sender.send('1', 'x', '')
  assert.match(await sender.received('BODY_TOO_LARGE'), /^HTTP\/1\.1 413 /)
})

test('a body that does not arrive in time is refused with 408, and the connection is closed', async (t) => {
  const { dial, timers, noted } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Content-Length: 10', ...end, '{"a"')
  await timers.armed()
  timers.fire()
  const reply = await sender.received('BODY_TIMEOUT')
  assert.match(reply, /^HTTP\/1\.1 408 /)
  assert.match(reply, /connection: close/i)
  timers.fire()
  await sender.closed()
  assert.deepEqual([noted[0]?.status, noted[0]?.code], [408, 'BODY_TIMEOUT'])
})

test('the deadline ends once the body is whole', async (t) => {
  const { dial, timers, state } = await openSurface(t)
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>()
  const { promise: commit, resolve: letCommit } = Promise.withResolvers<void>()
  state.accept = () => {
    wasAsked()
    return commit
  }
  const sender = await dial()
  sender.send(post('/hooks/wake', '{}', auth))
  await asked
  assert.equal(timers.running, 0)
  letCommit()
  assert.match(await sender.received('eventId'), /^HTTP\/1\.1 200 /)
})

test('an unauthenticated client that sends without end gets its reply, is read up to the bound, and is disconnected', async (t) => {
  const { app, dial, timers } = await openSurface(t)
  const accepted = once(app.server, 'connection') as Promise<[Socket]>
  const sender = await dial()
  const [server] = await accepted
  const size = 64 * 1024 * 1024
  sender.send('POST /hooks/wake HTTP/1.1', host, `Content-Length: ${size}`, ...end)
  sender.socket.write(Buffer.alloc(size, 'x'))
  assert.match(await sender.received('UNAUTHORIZED'), /^HTTP\/1\.1 401 .*connection: close/is)
  while (!server.isPaused() && server.bytesRead < 2 * lingerBytes) await new Promise((go) => setImmediate(go))
  timers.fire()
  await sender.closed()
  assert.ok(server.bytesRead < 2 * lingerBytes, `${server.bytesRead} bytes were read`)
})

test('the connection of an unauthenticated client closes as soon as its large body ends', async (t) => {
  const { dial, timers } = await openSurface(t)
  const sender = await dial()
  sender.send(post('/hooks/wake', 'x'.repeat(100_000)))
  assert.match(await sender.closed(), /^HTTP\/1\.1 401 /)
  assert.equal(timers.running, 0)
})

test('after an early reply to a small body the connection serves the next request', async (t) => {
  const { dial, entries } = await openSurface(t)
  const sender = await dial()
  sender.send(post('/hooks/wake', '{"text":"a"}'))
  await sender.received('UNAUTHORIZED')
  sender.send(post('/hooks/wake', '{"text":"b"}', auth))
  await sender.received('eventId')
  assert.equal(entries.length, 1)
})

test('a connection that ends with an early reply closes only once the body has arrived', async (t) => {
  const { dial, timers } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, 'Content-Length: 4', 'Connection: close', '', 'ab')
  await sender.received('UNAUTHORIZED')
  assert.equal(timers.running, 1, 'it is waited for')
  sender.send('cd')
  assert.match(await sender.closed(), /^HTTP\/1\.1 401 .*"UNAUTHORIZED"/s)
  assert.equal(timers.running, 0)
})

test('pipelined requests get their replies in order', async (t) => {
  const { dial } = await openSurface(t)
  const sender = await dial()
  const requests = [
    post('/hooks/wake', '{"text":"a"}', auth),
    post('/hooks/wake', '{"text":"b"}'),
    post('/hooks/nowhere', '{}', auth),
    post('/hooks/wake', '{"text":"c"}', auth, 'Connection: close'),
  ]
  sender.send(requests.join(''))
  const statuses = [...(await sender.closed()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  assert.deepEqual(statuses, ['200', '401', '404', '200'])
})

test('a sender that goes away in the middle leaves no record and no error', async (t) => {
  const { dial, timers, lines, noted, resolved } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Content-Length: 10', ...end, '{"a"')
  await timers.armed()
  sender.socket.destroy()
  assert.equal((await lines.line('sender-gone'))['level'], 'debug')
  assert.deepEqual([noted.length, resolved.length, lines.all.length, timers.running], [0, 0, 1, 0])
})

test('a request is carried to its end by the snapshot that it began with', async (t) => {
  const { dial, timers, state, entries } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Content-Length: 2', ...end)
  await timers.armed()
  state.live = { generation: 2, snapshot: createSnapshot({ hooks: { enabled: false } }) }
  sender.send('{}')
  assert.match(await sender.received('eventId'), /^HTTP\/1\.1 200 /)
  assert.equal(entries[0]?.request.generation, 1)
})

test('a sender that expects 100-continue gets it only after its token was right', async (t) => {
  const { dial } = await openSurface(t)
  const expect = ['Content-Length: 2', 'Expect: 100-continue']
  const outsider = await dial()
  outsider.send('POST /hooks/wake HTTP/1.1', host, ...expect, ...end)
  assert.match(await outsider.closed(), /^HTTP\/1\.1 401 /)
  const friend = await dial()
  friend.send('POST /hooks/wake HTTP/1.1', host, auth, ...expect, ...end)
  assert.match(await friend.received('100 Continue'), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  friend.send('{}')
  await friend.received('eventId')
})

test('a sender of HTTP/1.0, which has no interim replies, gets none', async (t) => {
  const { dial } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.0', host, auth, 'Content-Length: 2', 'Expect: 100-continue', '', '{}')
  assert.match(await sender.closed(), /^HTTP\/1\.1 200 /)
})

test('a body in a very large number of chunks arrives whole and in order', async (t) => {
  const { dial, resolved } = await openSurface(t, { hooks: { maxBodyBytes: 16_384 } })
  const body = JSON.stringify({ text: Array.from({ length: 1500 }, (_, index) => index).join('') })
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Transfer-Encoding: chunked', ...end)
  sender.send(...Array.from(body).flatMap((character) => ['1', character]), '0', ...end)
  await sender.received('eventId')
  assert.equal(Buffer.from(resolved[0]?.rawBody ?? []).toString(), body)
})

test('other routes still reply 100-continue', async (t) => {
  const { dial } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /other HTTP/1.1', host, 'Content-Type: application/json', 'Content-Length: 2')
  sender.send('', 'Expect: 100-continue', ...end)
  await sender.received('100 Continue')
  sender.send('{}')
  assert.match(await sender.received('\r\n\r\n{}'), /HTTP\/1\.1 200 /)
})

for (const [title, bytes, status, code] of [
  ['no HTTP at all', 'canary\r\n\r\n', 400, 'MALFORMED_HTTP'],
  [
    'two lengths',
    `POST /hooks/wake HTTP/1.1\r\n${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    400,
    'MALFORMED_HTTP',
  ],
  [
    'headers without end',
    `GET / HTTP/1.1\r\nCanary: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'HEADERS_TOO_LARGE',
  ],
] as const) {
  test(`${title}: ${status} ${code}, then the connection is closed`, async (t) => {
    const { dial } = await openSurface(t)
    const sender = await dial()
    sender.socket.write(bytes)
    const reply = await sender.closed()
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, 's'))
    assert.doesNotMatch(reply, /canary/i)
  })
}

test('a broken chunk in a body that is being read ends the connection and accepts nothing', async (t) => {
  const { dial, timers, entries, lines } = await openSurface(t)
  const sender = await dial()
  sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Transfer-Encoding: chunked', ...end)
  await timers.armed()
  sender.send('zz', '', '')
  assert.match(await sender.closed(), /MALFORMED_HTTP/)
  await lines.line('sender-gone')
  assert.equal(entries.length, 0)
})

for (const name of ['ascii', 'é', 'ÿ', '漢', '👍', '\ud800', '\u009b']) {
  test(`a reply that holds ${JSON.stringify(name)} is UTF-8, with its length in bytes`, async (t) => {
    const warnings = [{ pointer: `/${name}`, message: 'is not a field' }]
    const { dial } = await openSurface(t, {
      resolve: () => ({ outcome: 'accepted', actions: [wake], warnings }),
    })
    const sender = await dial()
    sender.send('POST /hooks/wake HTTP/1.1', host, auth, 'Connection: close', 'Content-Length: 2', '', '{}')
    const reply = Buffer.from(await sender.closed(), 'latin1')
    const start = reply.indexOf('\r\n\r\n') + 4
    const [, length] = /content-length: (\d+)\r\n/.exec(reply.toString('latin1')) ?? []
    const body = reply.subarray(start)
    assert.equal(body.length, Number(length))
    assert.deepEqual(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)).warnings, warnings)
  })
}
