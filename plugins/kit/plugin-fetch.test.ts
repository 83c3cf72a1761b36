import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { type FakeServerOptions, failureOf, openFakeServer } from './fake-server/index.ts'
import { createPluginFetch } from './plugin-fetch.ts'

function open(fetch = globalThis.fetch) {
  const lines: Record<string, unknown>[] = []
  const log = { debug: (facts: object) => void lines.push({ ...facts }) }
  const abort = new AbortController()
  return {
    lines,
    abort,
    fetch: createPluginFetch({ fetch, log, owner: { plugin: 'radio' }, signal: abort.signal }),
  }
}

async function serve(answer: FakeServerOptions['answer']) {
  const { url, requests, close } = await openFakeServer({ answer })
  return { host: new URL(url).host, requests, [Symbol.asyncDispose]: close }
}

test('a log line has method, host and status, and nothing that may hold the credential', async () => {
  await using server = await serve(() => ({ status: 429, body: 'body-secret' }))
  const { fetch, lines } = open()
  const response = await fetch(`http://${server.host}/bot-secret/send?key=query-secret`, {
    method: 'post',
    headers: { authorization: 'header-secret' },
    body: 'body-secret',
  })
  assert.equal(await response.text(), 'body-secret')
  assert.equal(lines.length, 1)
  assert.deepEqual(lines[0], {
    event: 'plugin-fetched',
    plugin: 'radio',
    method: 'POST',
    host: server.host,
    status: 429,
  })
})

test('a redirect is refused and its target is never called', async () => {
  await using server = await serve(() => ({ status: 302, headers: { location: '/elsewhere' } }))
  const error = await failureOf(open().fetch(`http://${server.host}/first`, { redirect: 'follow' }))
  const seen = server.requests.map(({ path }) => path)
  assert.deepEqual([error.code, error.retryable, seen], ['redirected', false, ['/first']])
})

test('a refused connection can be retried and delivered nothing; a cut one may have', async () => {
  let gone = ''
  {
    await using server = await serve(() => 'hang')
    gone = server.host
  }
  const refused = await failureOf(open().fetch(`http://${gone}/secret`))
  assert.deepEqual([refused.code, refused.retryable, refused.maybeDelivered], ['network', true, false])
  await using server = await serve(() => 'cut')
  const cut = await failureOf(open().fetch(`http://${server.host}/secret`))
  assert.deepEqual([cut.code, cut.retryable, cut.maybeDelivered], ['network', true, true])
  assert.ok(!`${refused.stack}${cut.stack}`.includes('/secret'))
})

test('a port that fetch never connects to is named, and delivered nothing', async () => {
  const error = await failureOf(open().fetch('http://127.0.0.1:6000/secret', { method: 'POST', body: 'x' }))
  assert.deepEqual([error.code, error.retryable, error.maybeDelivered], ['network', true, false])
  assert.equal(error.message, '127.0.0.1:6000 could not be reached (fetch blocks this port; use another).')
})

test('a failed handshake, or a certificate that is not trusted, delivered nothing', async () => {
  const server = createTcpServer((socket) => socket.once('data', () => socket.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const cut = await failureOf(open().fetch(`https://127.0.0.1:${port}/`, { method: 'POST', body: 'x' }))
  server.close()
  const codes = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']
  const believing = codes.map((code) =>
    failureOf(
      open(() => Promise.reject(new TypeError('fetch failed', { cause: { code } }))).fetch('https://a.test'),
    ),
  )
  for (const error of [cut, ...(await Promise.all(believing))]) {
    assert.deepEqual([error.code, error.retryable, error.maybeDelivered], ['network', true, false])
  }
})

test('a malformed request is refused without being quoted', async () => {
  const { fetch } = open()
  const addresses = ['not a url secret', 'file:///secret', 'http://me:secret@127.0.0.1/']
  const failures = addresses.map((address) => failureOf(fetch(address)))
  failures.push(failureOf(fetch('http://127.0.0.1/', { headers: { authorization: 'line\nsecret' } })))
  for (const error of await Promise.all(failures)) {
    assert.equal(error.code, 'bad-request')
    assert.ok(!JSON.stringify([error.message, String(error.cause)]).includes('secret'))
  }
})

test('closing the plugin, or aborting the call, ends it with the given reason', async () => {
  await using server = await serve(() => 'hang')
  const closing = open()
  const first = closing.fetch(`http://${server.host}/`)
  closing.abort.abort(new Error('closed'))
  await assert.rejects(first, /closed/)
  const calling = new AbortController()
  const second = open().fetch(new Request(`http://${server.host}/`, { signal: calling.signal }))
  calling.abort(new Error('called off'))
  await assert.rejects(second, /called off/)
})
