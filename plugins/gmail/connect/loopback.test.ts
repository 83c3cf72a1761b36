import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { openLoopback } from './loopback.ts'

const state = 'S'.repeat(43)
const code = '4/0AbCdEfGhIjKlMnOpQrStUv'

async function open() {
  const loopback = await openLoopback(state)
  const answers: unknown[] = []
  void loopback.answered.then((answer) => answers.push(answer))
  return {
    ...loopback,
    answers,
    good: `${loopback.redirectUri}?state=${state}&code=${code}&scope=a%20b`,
    [Symbol.asyncDispose]: () => loopback.close(),
  }
}

/** Sends its own Host header, which fetch does not allow. */
async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; path?: string },
) {
  const asking = request(url, { ...options, agent: false })
  asking.end()
  const [response] = await once(asking, 'response')
  response.resume()
  await once(response, 'close')
  return response.statusCode as number
}

/** Resolves after a reset too, which a sender gets that goes on writing to a closed connection. */
function untilClosed(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  return new Promise((resolve) => socket.on('close', () => resolve()))
}

test('the redirect is answered with a page that loads nothing, runs nothing and sends no referrer', async () => {
  await using loopback = await open()
  assert.match(loopback.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/$/)
  const response = await fetch(loopback.good)
  const page = await response.text()
  assert.equal(response.status, 200)
  assert.match(page, /You can close this window and go back to the terminal\./)
  assert.doesNotMatch(page, /<script|<link|<img|src=|https?:|4\/0Ab|SSSS/)
  const { headers } = response
  assert.match(
    headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}=';/,
  )
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('connection'), 'close')
  assert.deepEqual(await loopback.answered, { code })
})

test('a denial and an incomplete answer have their own pages, and only the denial ends the wait', async () => {
  await using loopback = await open()
  const foreign = await fetch(`${loopback.redirectUri}?state=other&code=${code}`)
  assert.equal(foreign.status, 400)
  assert.match(await foreign.text(), /another run of the setup/)
  const denied = await fetch(`${loopback.redirectUri}?state=${state}&error=access_denied`)
  assert.match(await denied.text(), /There is no consent/)
  assert.deepEqual(await loopback.answered, { error: 'access_denied' })
})

test('requests with a foreign host, method, path or state are refused, and the wait goes on', async () => {
  await using loopback = await open()
  const { redirectUri, good } = loopback
  const { port } = new URL(redirectUri)
  for (const [status, url, options] of [
    [404, redirectUri, {}],
    [404, `${redirectUri}favicon.ico`, {}],
    [404, good.replace('/?', '/x?'), {}],
    [404, good, { headers: { host: `evil.example:${port}` } }],
    [404, good, { headers: { host: `localhost:${port}` } }],
    [404, good, { headers: { host: '127.0.0.1' } }],
    [404, redirectUri, { path: good.replace('127.0.0.1', 'evil.example') }],
    [404, redirectUri, { path: '//evil.example/?state=x' }],
    [405, good, { method: 'POST' }],
    [405, good, { method: 'HEAD' }],
    [400, `${redirectUri}?code=${code}`, {}],
    [400, `${redirectUri}?state=&code=${code}`, {}],
    [400, `${redirectUri}?state=${state}&state=${state}&code=${code}`, {}],
    [400, `${redirectUri}?state=${state}`, {}],
    [400, `${redirectUri}?state=${state}&code=`, {}],
    [400, `${redirectUri}?state=${state}&code=${code}&code=${code}`, {}],
    [400, `${redirectUri}?state=${state}&code=${code}&error=access_denied`, {}],
    [400, `${redirectUri}?state=${state}&code=${'x'.repeat(2000)}`, {}],
    [400, `${redirectUri}?state=${state}&code=%00%0d%0a%0d%0aHi-there-you`, {}],
    [431, `${redirectUri}?state=${state}&code=${'x'.repeat(40_000)}`, {}],
  ] as const) {
    assert.equal(await ask(url, options), status, `${'method' in options ? options.method : 'GET'} ${url}`)
  }
  assert.deepEqual(loopback.answers, [])
  await (await fetch(good)).text()
  assert.deepEqual(await loopback.answered, { code })
})

test('the first of two answers counts, and a page that is loaded again says so', async () => {
  await using loopback = await open()
  await (await fetch(loopback.good)).text()
  const second = await fetch(loopback.good.replace(code, '4/0Another-code-of-another'))
  assert.match(await second.text(), /Google has answered already/)
  assert.deepEqual(loopback.answers, [{ code }])
})

test('after closing nothing listens, even if a connection is held open or a request never ends', async () => {
  const loopback = await open()
  const { port } = new URL(loopback.redirectUri)
  const idle = connect(Number(port), '127.0.0.1')
  const dripping = connect(Number(port), '127.0.0.1')
  await Promise.all([once(idle, 'connect'), once(dripping, 'connect')])
  dripping.write('GET / HTTP/1.1\r\nx: ')
  const drip = setInterval(() => dripping.write('x'), 20)
  dripping.on('close', () => clearInterval(drip))
  const gone = Promise.all([idle, dripping].map(untilClosed))
  const page = fetch(loopback.good)
  await loopback.answered
  await loopback.close()
  await gone
  assert.match(await (await page).text(), /go back to the terminal/, 'the page came through')
  await assert.rejects(fetch(loopback.good))
})
