import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, createSnapshot, openSurface, token } from '../surface-fixture.ts'
import { createProxyTrust, type Proxies } from './proxies.ts'

const loopback: Proxies = [
  { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
  { address: '::1', prefix: 128, family: 'ipv6' },
]
const inner: Proxies = [{ address: '10.0.0.0', prefix: 8, family: 'ipv4' }]

test('a proxy is trusted if its address lies in a current range, in every notation', () => {
  let proxies: Proxies = []
  const trusts = createProxyTrust(() => proxies)
  const believed = () =>
    ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '10.1.2.3', '::ffff:a01:203'].map((address) =>
      trusts(address),
    )
  assert.deepEqual(believed(), [false, false, false, false, false, false])
  proxies = loopback
  assert.deepEqual(believed(), [true, true, true, true, false, false])
  proxies = inner
  assert.deepEqual(believed(), [false, false, false, false, true, true])
  for (const text of ['10.1.2.3:80', '[::ffff:10.1.2.3]:80', '10.1.2.3%eth0']) {
    assert.equal(trusts(text), true, text)
  }
  for (const text of [undefined, '', 'localhost', '10.1', '10.0.0.0/8', '11.0.0.1:10']) {
    assert.equal(trusts(text), false, text)
  }
})

const forwarded = { ...bearer, 'x-forwarded-for': '192.0.2.9, 203.0.113.7, 10.0.0.4' }

test('the address of a client is found with the proxies of the live snapshot', async (t) => {
  const { post, entries, state } = await openSurface(t)
  const clientWith = async (trustedProxies: Proxies) => {
    state.live = { ...state.live, snapshot: createSnapshot({ trustedProxies }) }
    await post('wake', { text: 'x' }, forwarded)
    return entries.at(-1)?.request.client
  }
  assert.equal(await clientWith([]), '127.0.0.1')
  assert.equal(await clientWith(loopback), '10.0.0.4')
  assert.equal(await clientWith([...loopback, ...inner]), '203.0.113.7')
  assert.equal(await clientWith(inner), '127.0.0.1', 'the nearest one is not believed')
})

const manyHops = Array.from({ length: 400 }, (_, hop) => `198.51.100.${hop % 256}`)

/** Headers that the forwarders on this machine, or at 10.x.x.x, may add; each line is a header of its own. */
const chains: readonly (readonly [client: string, ...lines: string[]])[] = [
  ['127.0.0.1'],
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7', '127.0.0.1, 10.0.0.9, 192.0.2.1, 203.0.113.7'],
  ['203.0.113.7', '192.0.2.1, 203.0.113.7, 10.0.0.4'],
  ['203.0.113.7', '192.0.2.1,203.0.113.7 ,\t10.0.0.4:5555,[::ffff:10.0.0.5]:80'],
  ['203.0.113.7', '203.0.113.7:4711'],
  ['203.0.113.7', '::ffff:203.0.113.7'],
  ['2001:db8::7', '[2001:db8::7]:443'],
  ['2001:db8::7', '"[2001:db8::7]", 10.0.0.4'],
  ['203.0.113.7', '192.0.2.1', '203.0.113.7', '10.0.0.4'],
  ['10.0.0.4', '203.0.113.7, unknown', '10.0.0.4'],
  ['10.0.0.4', '203.0.113.7, unknown, 10.0.0.4'],
  ['127.0.0.1', 'unknown'],
  ['127.0.0.1', '203.0.113.7, _hidden'],
  ['127.0.0.1', 'x'.repeat(5000)],
  ['203.0.113.7', ', ,203.0.113.7,, '],
  ['127.0.0.1', ' , '],
  ['10.0.0.1', '10.0.0.1, 10.0.0.2, 10.0.0.3'],
  ['203.0.113.7', [...manyHops, '203.0.113.7', ...new Array(400).fill('10.0.0.4')].join(', ')],
]

test('the client is the nearest forwarder that is not trusted, and its own reports are not read', async (t) => {
  const { dial, entries } = await openSurface(t, { trustedProxies: [...loopback, ...inner] })
  for (const [client, ...lines] of chains) {
    const sender = await dial()
    const headers = lines.map((line) => `X-Forwarded-For: ${line}`)
    const others = ['forwarded: for=192.0.2.66', 'x-real-ip: 192.0.2.66', 'x-forwarded-host: 192.0.2.66']
    const head = [
      'POST /hooks/wake HTTP/1.1',
      'host: x',
      `authorization: Bearer ${token}`,
      ...others,
      ...headers,
    ]
    sender.send(...head, 'content-length: 2', '', '{}')
    await sender.received('HTTP/1.1 200')
    assert.equal(entries.at(-1)?.request.client, client, lines.join(' | ').slice(0, 100))
  }
})
