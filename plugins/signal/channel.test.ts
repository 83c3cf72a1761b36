import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { type Meaning, openBed } from '@reveille/kit/fake-server'
import { checkConfiguration, createSignalChannel } from './channel.ts'
import type { SignalConfig } from './daemon.ts'
import { rpcError } from './fake-server/account.ts'
import { groups, openRestVendor, openVendor, ownNumber, people, visibleText } from './fake-server/index.ts'
import { restError } from './fake-server/rest.ts'

const { ada, outsider, gone } = people

const suite = {
  plugin: new URL('./index.ts', import.meta.url),
  visibleText,
  fences: false,
  places: [
    [ada.number, `signal:${ada.number}`, ` ${ada.number} `],
    [`uuid:${ada.uuid}`, ada.uuid, ada.uuid.toUpperCase()],
    [`group:${groups.crew.id}`, `signal:group:${groups.crew.id}`, `group:${groups.crew.id.replace('=', '')}`],
    [`group:${groups.half.id}`, `group:${groups.half.id.replaceAll('+', '-').replaceAll('/', '_')}`],
    ['username:ada.01', 'username:Ada.01'],
  ],
  badAddresses: [
    ...['0791234567', '+0791234567', '+41', 'group:short'],
    ...['username:a b', 'ada', '41791234567', 'uuid:1-2'],
  ],
}

vendorConformance({ ...suite, name: 'the channel signal conforms', open: openVendor })
vendorConformance({
  ...suite,
  name: 'the channel signal conforms through signal-cli-rest-api',
  open: openRestVendor,
})

async function open(given: Partial<SignalConfig> = {}) {
  const vendor = await (given.api === 'rest' ? openRestVendor() : openVendor())
  const config = { baseUrl: vendor.url, api: 'json-rpc', allowRemote: false, ...given } as const
  const channel = createSignalChannel({ config, fetch, now: Date.now })
  const check = () => channel.check?.(signal)
  return { ...openBed(vendor, channel), check }
}

const { signal } = new AbortController()

/** What a person reads of a message, each style with its text. */
for (const [name, markdown, text, styles] of [
  [
    'marks become ranges in UTF-16 units, and nested ones overlap',
    '👩🏽‍🚀 **bold *both* bold** ~~gone~~ `x < y`',
    '👩🏽‍🚀 bold both bold gone x < y',
    ['BOLD bold both bold', 'ITALIC both', 'STRIKETHROUGH gone', 'MONOSPACE x < y'],
  ],
  [
    'headings are bold, code is monospaced, and the prefix of a quote has no style',
    '# Title\n\n```ts\nlet x\n  let y\n```\n\n> **one\n> two**\n\n- `a`\n  b',
    'Title\n\nlet x\n  let y\n\n> one\n> two\n\n• a\n   b',
    ['BOLD Title', 'MONOSPACE let x\n  let y', 'BOLD one\n', 'BOLD two', 'MONOSPACE a'],
  ],
  ['a text cannot contain style marks of its own', '\ufdd0x\ufdd5 `\ufdd1y`', 'x y', ['MONOSPACE y']],
  [
    'links show their addresses, once',
    '[page](https://e.org/a) https://e.org/b [mail](mailto:ada@e.org) ![pic](https://e.org/p.png)',
    'page (https://e.org/a) https://e.org/b mail (ada@e.org) pic (https://e.org/p.png)',
    [],
  ],
] as const)
  test(name, async () => {
    await using bed = await open()
    await bed.send(markdown)
    const [message] = bed.vendor.messages
    const styled = (message?.['styles'] ?? []) as string[]
    const ranges = styled.map((range) => {
      const [start, length, style] = range.split(':')
      return `${style} ${message?.text.slice(Number(start), Number(start) + Number(length))}`
    })
    assert.deepEqual([message?.text, ranges], [text, styles])
  })

const apis = ['json-rpc', 'rest'] as const
for (const api of apis)
  test(`every form of address reaches the recipient that it names: ${api}`, async () => {
    await using bed = await open({ api, account: ownNumber })
    const addresses = [`uuid:${ada.uuid}`, 'username:ada.01', `group:${groups.crew.id}`]
    for (const to of addresses) await bed.send('**Hello** ~ | * `', to)
    const recipients = bed.vendor.messages.map(({ to }) => to)
    assert.deepEqual(recipients, [ada.number, ada.number, groups.crew.id])
    assert.deepEqual(new Set(bed.texts()), new Set(['Hello ~ | * `']))
  })

test('the receipt lists members of a group that a message did not reach', async () => {
  await using bed = await open()
  const [receipt] = await bed.send('Hello', `group:${groups.half.id}`)
  assert.deepEqual(receipt, {
    id: '1700000000000',
    at: '2023-11-14T22:13:20.000Z',
    partial: [
      { target: people.gone.number, reason: 'not registered with Signal' },
      { target: people.offline.number, reason: 'the network failed' },
    ],
  })
})

const rpc = (code: number, data: object | null = null) => ({ body: rpcError(code, 'Words', 'd:1', data) })
const limited = (more: object) => ({ response: { results: [{ type: 'RATE_LIMIT_FAILURE', ...more }] } })
const unreached = [{ type: 'UNREGISTERED_FAILURE', recipientAddress: { number: gone.number } }]
const tokens = { challenge_tokens: ['a-token'] }

/** What each refusal means, by the interface of the service. */
const refusals: Readonly<Record<'json-rpc' | 'rest', readonly Meaning[]>> = {
  'json-rpc': [
    [rpc(-1), 'bad-target'],
    [rpc(-3), 'unavailable retryable maybeDelivered'],
    [rpc(-4), 'forbidden'],
    [rpc(-5, limited({})), 'rate-limited retryable'],
    [
      rpc(-5, limited({ token: 'a-token', retryAfterSeconds: 90 })),
      'rate-limited retryable wholeService after 90 s',
      /submitRateLimitChallenge --challenge a-token --captcha/,
    ],
    [rpc(-6), 'bad-credential retryable wholeService'],
    [rpc(-32602), 'bad-credential retryable wholeService'],
    [rpc(-32603), 'unavailable retryable maybeDelivered'],
    [rpc(-32600), 'bad-request'],
    [
      { body: { jsonrpc: '2.0', id: 'd:1', result: { timestamp: 1, results: unreached } } },
      'bad-target',
      /^Signal reached nobody: not registered with Signal\. Fix the address, or let them install it\.$/,
    ],
    [
      `group:${groups.lost.id}`,
      'bad-target',
      /^signal-cli answers -1: Failed to send message, not registered with Signal\. Fix/,
    ],
    // A person whose safety number has changed.
    [outsider.number, 'forbidden', /signal-cli trust/],
    // Servers that are no JSON-RPC daemon.
    [{ status: 415 }, 'bad-request'],
    [{ status: 421 }, 'bad-request'],
    [{ status: 404 }, 'unavailable retryable wholeService'],
  ],
  // Nearly all of them are 400, and are distinguished by their words.
  rest: [
    [restError(400, 'Unregistered user "+41"'), 'bad-target'],
    [restError(400, 'Untrusted Identity for "+41"'), 'forbidden'],
    [restError(400, 'Something else'), 'bad-request'],
    [restError(400, 'Failed to send (IOException)'), 'unavailable retryable maybeDelivered'],
    [restError(429, 'Rate limit exceeded'), 'rate-limited retryable'],
    [restError(429, 'Rate limit exceeded', tokens), 'rate-limited retryable wholeService'],
  ],
}
for (const api of apis)
  test(`each refusal says whether a retry can help and what to fix: ${api}`, async () => {
    await using bed = await open({ api, account: ownNumber })
    await bed.assertMeanings(refusals[api])
  })

test('a check names the account that sends', async () => {
  await using bed = await open()
  assert.deepEqual(await bed.check(), { ok: true, detail: `signal-cli sends as ${ownNumber}.` })
  await using other = await open({ account: '+41799999999' })
  assert.deepEqual(await other.check(), { ok: false, detail: 'signal-cli does not serve +41799999999.' })
  assert.equal((await other.failure()).code, 'bad-credential')
})

test('another machine is refused unless the operator allows it, and so is the other interface without an account', () => {
  const remote = ['10.0.0.1:8080', 'signal.example.org', '127.0.0.1.example.org', '0.0.0.0:8080']
  for (const host of remote) {
    const config = { baseUrl: `http://${host}`, api: 'json-rpc', allowRemote: false } as const
    assert.throws(() => checkConfiguration(config), /allowRemote/, host)
    checkConfiguration({ ...config, allowRemote: true })
  }
  for (const host of ['127.0.0.1:8080', 'localhost:8080/', '[::1]:8080', '127.1']) {
    const config = { baseUrl: `http://${host}`, allowRemote: false } as const
    checkConfiguration({ ...config, api: 'json-rpc' })
    assert.throws(() => checkConfiguration({ ...config, api: 'rest' }), /account/)
  }
})
