import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { vendorConformance } from '@reveille/kit/conformance'
import { openBed } from '@reveille/kit/fake-server'
import { createHttpChannel, type HttpConfig } from './channel.ts'
import { openVendor, visibleText } from './fake-server/index.ts'
import http from './index.ts'

vendorConformance({
  name: 'the http channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  addressKey: 'url',
  places: [['ops', ' ops '], ['user:ada@example.org'], ['#general']],
  badAddresses: ['two words', 'x'.repeat(129), 'a\u0000b'],
})

const call = { key: 'delivery:1', signal: new AbortController().signal }

async function send(config: Partial<HttpConfig>, addresses: readonly string[] = []) {
  await using vendor = Object.assign(await openVendor(), {
    [Symbol.asyncDispose]: () => vendor.close(),
  })
  const given = { defaultTo: 'ops', ...vendor.config, allowPrivateAddresses: false, ...config } as HttpConfig
  async function deliver() {
    const channel = createHttpChannel({
      config: given,
      // Calls the receiver, wherever the name leads.
      fetch: (_url, init) => fetch(`${vendor.url}/hook`, init),
      now: Date.now,
      lookup: async () => addresses.map((address) => ({ address })),
    })
    const [part = assert.fail('there is no part')] = channel.render('**Done**: 3 of 3')
    return channel.send(part, { ...call, target: channel.target('ops') })
  }
  const outcome = await deliver().catch((error) => {
    assert.ok(isPluginError(error), String(error))
    return `${error.code}${error.retryable ? ', again' : ''}`
  })
  return { outcome, messages: vendor.messages }
}

test('a message is an event whose id is the same for each attempt', async () => {
  const { outcome, messages } = await send({ allowPrivateAddresses: true })
  assert.partialDeepStrictEqual(outcome, { id: 'delivery:1' })
  assert.deepEqual(messages, [{ to: 'ops', text: 'Done: 3 of 3', type: 'message', id: 'delivery:1' }])
})

const url = 'https://hooks.example.org/reveille'
for (const [name, config, addresses, expected] of [
  ['a public address', { url }, ['93.184.215.14', '2606:2800:21f:cb07::1'], 'sent'],
  ['a private one', { url }, ['10.1.2.3'], 'forbidden'],
  ['one that is private among others', { url }, ['93.184.215.14', '192.168.0.9'], 'forbidden'],
  ['the address of cloud metadata', { url }, ['169.254.169.254'], 'forbidden'],
  ['this machine', { url }, ['127.0.0.1'], 'forbidden'],
  ['this machine in IPv6', { url }, ['::1'], 'forbidden'],
  ['a mapped private address', { url }, ['::ffff:10.1.2.3'], 'forbidden'],
  ['a unique local address', { url }, ['fd12::1'], 'forbidden'],
  ['a translated private address', { url }, ['64:ff9b::a01:203'], 'forbidden'],
  ['no TLS', { url: 'http://hooks.example.org/' }, ['93.184.215.14'], 'bad-request'],
  ['a private address where that is allowed', { url, allowPrivateAddresses: true }, ['10.1.2.3'], 'sent'],
] as const)
  test(`a webhook with ${name}: ${expected}`, async () => {
    const { outcome, messages } = await send(config, addresses)
    assert.equal(typeof outcome === 'string' ? outcome : 'sent', expected)
    assert.equal(messages.length, expected === 'sent' ? 1 : 0)
  })

test('a private address in the configuration is refused before anything is sent', () => {
  const check = (own: Partial<HttpConfig>) =>
    http.check?.({ url, secret: '', defaultTo: 'ops', allowPrivateAddresses: false, ...own })
  check({})
  check({ url: 'http://127.0.0.1:9000/', allowPrivateAddresses: true })
  const refused = [
    ['http://hooks.example.org/', /`url` is not an https address; set `allowPrivateAddresses: true`/],
    ['https://127.0.0.1/', /`url` is a private address/],
    ['https://[::1]/', /`url` is a private address/],
    ['https://2130706433/', /`url` is a private address/],
  ] as const
  for (const [bad, message] of refused) assert.throws(() => check({ url: bad }), { message })
  assert.throws(() => check({ defaultTo: 'two words' }), { message: /`defaultTo` is no address/ })
})

test('each answer says whether and when to try again', async () => {
  const vendor = await openVendor()
  const config = { defaultTo: 'ops', ...vendor.config } as HttpConfig
  await using bed = openBed(vendor, createHttpChannel({ config, fetch, now: Date.now }))
  const page = { status: 403, headers: { 'content-type': 'text/html' }, body: 'no' }
  await bed.assertMeanings([
    [{ status: 400 }, 'bad-request'],
    [{ status: 408 }, 'unavailable retryable'],
    [{ status: 410 }, 'bad-target'],
    [{ status: 413 }, 'too-long'],
    [{ status: 422 }, 'bad-request'],
    [{ status: 503 }, 'unavailable retryable'],
    [page, 'unavailable retryable', /^What answers at `url` is not the webhook/],
  ])
})
