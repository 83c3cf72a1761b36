import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { openBed } from '@reveille/kit/fake-server'
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
    '0791234567',
    '+0791234567',
    '+41',
    'group:short',
    'username:a b',
    'ada',
    '41791234567',
    'uuid:1-2',
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

/** Returns the text of each style. */
function seen({ text, styles }: { text: string; styles?: unknown }) {
  return (styles as string[]).map((range) => {
    const [start, length, style] = range.split(':')
    return [style, text.slice(Number(start), Number(start) + Number(length))]
  })
}

test('marks become ranges in UTF-16 units, and nested ones overlap', async () => {
  await using bed = await open()
  await bed.send('👩🏽‍🚀 **bold *both* bold** ~~gone~~ `x < y`')
  const [message] = bed.vendor.messages
  assert.ok(message !== undefined)
  assert.equal(message.text, '👩🏽‍🚀 bold both bold gone x < y')
  assert.deepEqual(seen(message), [
    ['BOLD', 'bold both bold'],
    ['ITALIC', 'both'],
    ['STRIKETHROUGH', 'gone'],
    ['MONOSPACE', 'x < y'],
  ])
  assert.deepEqual(message['styles'], ['8:14:BOLD', '13:4:ITALIC', '23:4:STRIKETHROUGH', '28:5:MONOSPACE'])
})

test('headings are bold, code is monospaced, and the prefix of a quote has no style', async () => {
  await using bed = await open()
  await bed.send('# Title\n\n```ts\nlet x\n  let y\n```\n\n> **one\n> two**\n\n- `a`\n  b')
  const [message] = bed.vendor.messages
  assert.ok(message !== undefined)
  assert.equal(message.text, 'Title\n\nlet x\n  let y\n\n> one\n> two\n\n• a\n   b')
  assert.deepEqual(seen(message), [
    ['BOLD', 'Title'],
    ['MONOSPACE', 'let x\n  let y'],
    ['BOLD', 'one\n'],
    ['BOLD', 'two'],
    ['MONOSPACE', 'a'],
  ])
})

test('a text cannot contain style marks of its own', async () => {
  await using bed = await open()
  await bed.send('\ufdd0x\ufdd5 `\ufdd1y`')
  assert.deepEqual(bed.vendor.messages[0]?.['styles'], ['2:1:MONOSPACE'])
})

test('links show their addresses, once', async () => {
  await using bed = await open()
  await bed.send(
    '[page](https://example.org/a) https://example.org/b [mail](mailto:ada@example.org) ![pic](https://example.org/p.png)',
  )
  assert.equal(
    bed.vendor.messages[0]?.text,
    'page (https://example.org/a) https://example.org/b mail (ada@example.org) pic (https://example.org/p.png)',
  )
})

test('each part of a long text has its own ranges, and none becomes a file', async () => {
  await using bed = await open()
  await bed.send(
    Array.from(
      { length: 120 },
      (_, index) => `Zeile ${index}: **fett ${index}** ärgert *schräg ${index}*.`,
    ).join('\n\n'),
  )
  const { messages } = bed.vendor
  assert.ok(messages.length > 2)
  for (const message of messages) {
    assert.equal(message['isAttachment'], false)
    for (const [style, words] of seen(message))
      assert.match(words ?? '', style === 'BOLD' ? /^fett \d+$/ : /^schräg \d+$/)
  }
  assert.equal(messages.flatMap(seen).length, 240)
})

test('every form of address reaches the recipient that it names', async () => {
  await using bed = await open()
  for (const to of [`uuid:${ada.uuid}`, 'username:ada.01', `group:${groups.crew.id}`])
    await bed.send('Hello', to)
  assert.deepEqual(
    bed.vendor.messages.map(({ to }) => to),
    [ada.number, ada.number, groups.crew.id],
  )
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

test('a message that reached no member of its group is a failure', async () => {
  await using bed = await open()
  const { code, retryable, message } = await bed.failure(`group:${groups.lost.id}`)
  assert.deepEqual([code, retryable], ['bad-target', false])
  assert.match(message, /^signal-cli answers -1: Failed to send message, not registered with Signal\. Fix/)
})

test('a result without any reached recipient is a failure', async () => {
  await using bed = await open()
  const results = [{ type: 'UNREGISTERED_FAILURE', recipientAddress: { number: gone.number } }]
  bed.vendor.script({
    kind: 'answer',
    answer: { body: { jsonrpc: '2.0', id: 'd:1', result: { timestamp: 1, results } } },
  })
  const { code, retryable, message } = await bed.failure()
  assert.deepEqual(
    [code, retryable, message],
    [
      'bad-target',
      false,
      'Signal reached nobody: not registered with Signal. Fix the address, or let them install it.',
    ],
  )
})

test('errors of the daemon say whether a retry can help and how to fix them', async () => {
  await using bed = await open()
  const refused = async (code: number, data: object | null = null) => {
    bed.vendor.script({ kind: 'answer', answer: { body: rpcError(code, 'Words', 'd:1', data) } })
    const { code: kind, retryable, maybeDelivered, wholeService } = await bed.failure()
    return [kind, retryable, maybeDelivered, wholeService]
  }
  const rateLimited = (more: object) => ({ response: { results: [{ type: 'RATE_LIMIT_FAILURE', ...more }] } })
  assert.deepEqual(await refused(-1), ['bad-target', false, false, false])
  assert.deepEqual(await refused(-3), ['unavailable', true, true, false])
  assert.deepEqual(await refused(-4), ['forbidden', false, false, false])
  assert.deepEqual(await refused(-5, rateLimited({})), ['rate-limited', true, false, false])
  assert.deepEqual(await refused(-5, rateLimited({ token: 'a-token' })), ['rate-limited', true, false, true])
  assert.deepEqual(await refused(-6), ['bad-credential', true, false, true])
  assert.deepEqual(await refused(-32602), ['bad-credential', true, false, true])
  assert.deepEqual(await refused(-32603), ['unavailable', true, true, false])
  assert.deepEqual(await refused(-32600), ['bad-request', false, false, false])
})

test('a proof that Signal demands is reported with its token, because only the operator can give it', async () => {
  await using bed = await open()
  bed.vendor.script({ kind: 'answer', answer: bed.vendor.refusals.rateLimited(90) })
  const { message, retryAfter } = await bed.failure()
  assert.equal(retryAfter, 90)
  assert.match(message, /submitRateLimitChallenge --challenge a-token --captcha/)
})

test('a server that is not a JSON-RPC daemon is recognised by its status', async () => {
  await using bed = await open()
  const answered = async (status: number) => {
    bed.vendor.always({ kind: 'answer', answer: { status } })
    const { code, retryable } = await bed.failure()
    return [code, retryable]
  }
  assert.deepEqual(await answered(415), ['bad-request', false])
  assert.deepEqual(await answered(421), ['bad-request', false])
  assert.deepEqual(await answered(404), ['unavailable', true])
})

test('a person whose safety number has changed is not written to', async () => {
  await using bed = await open()
  const { code, retryable, message } = await bed.failure(outsider.number)
  assert.deepEqual([code, retryable], ['forbidden', false])
  assert.match(message, /signal-cli trust/)
})

test('a check names the account that sends', async () => {
  await using bed = await open()
  assert.deepEqual(await bed.check(), { ok: true, detail: `signal-cli sends as ${ownNumber}.` })
  await using other = await open({ account: '+41799999999' })
  assert.deepEqual(await other.check(), { ok: false, detail: 'signal-cli does not serve +41799999999.' })
  assert.equal((await other.failure()).code, 'bad-credential')
})

test('another machine is refused unless the operator allows it', () => {
  const refuses = (baseUrl: string) => {
    const config = { baseUrl, api: 'json-rpc', allowRemote: false } as const
    assert.throws(() => checkConfiguration(config), /allowRemote/, baseUrl)
    checkConfiguration({ ...config, allowRemote: true })
  }
  for (const url of [
    'http://10.0.0.1:8080',
    'https://signal.example.org',
    'http://127.0.0.1.example.org',
    'http://0.0.0.0:8080',
  ])
    refuses(url)
  for (const baseUrl of [
    'http://127.0.0.1:8080',
    'http://localhost:8080/',
    'http://[::1]:8080',
    'http://127.1',
  ])
    checkConfiguration({ baseUrl, api: 'json-rpc', allowRemote: false })
})

test('signal-cli-rest-api is sent the sender, and the recipients in its own form', async () => {
  await using bed = await open({ api: 'rest', account: ownNumber })
  for (const to of [`uuid:${ada.uuid}`, 'username:ada.01', `group:${groups.crew.id}`]) {
    await bed.send('**Hello** ~ | * `', to)
  }
  assert.deepEqual(
    bed.vendor.messages.map(({ to, text }) => [to, text]),
    [ada.number, ada.number, groups.crew.id].map((to) => [to, 'Hello ~ | * `']),
  )
  assert.throws(
    () => checkConfiguration({ baseUrl: bed.vendor.url, api: 'rest', allowRemote: false }),
    /account/,
  )
})

test('refusals of signal-cli-rest-api, nearly all of them 400, are distinguished by their words', async () => {
  await using bed = await open({ api: 'rest', account: ownNumber })
  const refused = async (status: number, words: string, more?: object) => {
    bed.vendor.script({ kind: 'answer', answer: restError(status, words, more) })
    const { code, retryable, maybeDelivered, wholeService } = await bed.failure()
    return [code, retryable, maybeDelivered, wholeService]
  }
  assert.deepEqual(await refused(400, 'Unregistered user "+41"'), ['bad-target', false, false, false])
  assert.deepEqual(await refused(400, 'Untrusted Identity for "+41"'), ['forbidden', false, false, false])
  assert.deepEqual(await refused(400, 'Something else'), ['bad-request', false, false, false])
  assert.deepEqual(await refused(400, 'Failed to send (IOException)'), ['unavailable', true, true, false])
  assert.deepEqual(await refused(429, 'Rate limit exceeded'), ['rate-limited', true, false, false])
  const tokens = { challenge_tokens: ['a-token'] }
  assert.deepEqual(await refused(429, 'Rate limit exceeded', tokens), ['rate-limited', true, false, true])
})
