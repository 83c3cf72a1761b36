/** Tests what every channel must do. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Channel, Part } from '../channel.ts'
import { measureIn } from '../measure.ts'
import { isPluginError } from '../plugin-error.ts'
import { assertPluginError, assertStorable } from './assertions.ts'
import { within } from './deadline.ts'
import { leaksOf, openResources } from './handles.ts'
import { assertInertPlugin } from './import.ts'

export interface ChannelFixture {
  readonly channel: Channel
  /** Returns what a person has seen so far: the text of each message, in order. */
  messages(): readonly string[]
  /** Lets the vendor take messages and never answer. Absent if the channel cannot stall. */
  stall?(): void
  /** Lets the vendor refuse every message. Absent if the channel cannot fail. */
  fail?(): void
  /** The credentials of this fixture, in addition to those of the suite. */
  readonly secrets?: readonly string[]
  /** Releases what `create` has acquired: the channel and the fake server of the vendor. */
  close?(): Promise<void> | void
}

export interface ChannelConformance {
  /** The name of the suite in the report. */
  readonly name: string
  /** The plugin's entry point, which its package exports. */
  readonly plugin: URL
  create(): Promise<ChannelFixture> | ChannelFixture
  /** Addresses grouped by place. The suite sends to the first address of the first place. */
  readonly places: readonly (readonly string[])[]
  /** Texts that are not addresses, in addition to blank ones. */
  readonly badAddresses: readonly string[]
  /** Whether the vendor's markup has code fences. Default: true. */
  readonly fences?: boolean
  /** The credentials of the fixture, which no error and no receipt may show. */
  readonly secrets?: readonly string[]
  /** Returns what a person reads of a part, for a surface with markup. Default: its text as it is. */
  visibleText?(part: Part): string
}

export function channelConformance(options: ChannelConformance): void {
  describe(options.name, () => channelTests(options))
}

/** The tests without their suite, for a suite that has more tests. */
export function channelTests(options: Omit<ChannelConformance, 'name'>): void {
  const { plugin, create, places, badAddresses, fences = true, secrets = [] } = options
  const visibleText = options.visibleText ?? (({ text }: Part) => text)
  const to = places[0]?.[0]
  assert.ok(to !== undefined, 'the suite needs a place to send to')
  const secretsOf = (fixture: ChannelFixture) => [...secrets, ...(fixture.secrets ?? [])]

  test('delivers a short text as one message', async () => {
    await using used = await use(create)
    await sendAll(used.fixture.channel, to, 'A short text.')
    const seen = used.fixture.messages()
    assert.equal(seen.length, 1)
    assert.ok(seen[0]?.includes('A short text.'), 'the message holds the text')
  })

  test('delivers a long text as parts within the limit that hold all of its words in order', async () => {
    await using used = await use(create)
    const { channel } = used.fixture
    const text = longProse(channel)
    const parts = channel.render(text)
    assert.ok(parts.length > 1, 'a text over the limit is cut')
    assertWithinLimit(channel, parts)
    assert.deepEqual(
      parts.flatMap((part) => wordsOf(visibleText(part))),
      wordsOf(text),
    )
    await sendAll(channel, to, text)
    assert.equal(used.fixture.messages().length, parts.length, 'one part is one message')
  })

  test('closes a code fence at a cut and opens it again with its language', async (t) => {
    if (!fences) return t.skip('the vendor has no fences')
    await using used = await use(create)
    const { channel } = used.fixture
    const line = 'const value = compute(value)'
    const code = repeatOver(`${line}\n`, channel)
    const parts = channel.render(`\`\`\`ts\n${code}\`\`\``)
    assert.ok(parts.length > 1, 'code over the limit is cut')
    assertWithinLimit(channel, parts)
    for (const { text } of parts) {
      const lines = text.trim().split('\n')
      assert.equal(lines[0], '```ts', 'a part opens the fence with its language')
      assert.equal(lines.at(-1), '```', 'a part closes the fence')
      assert.deepEqual(new Set(lines.slice(1, -1)), new Set([line]), 'a part holds whole lines of code')
    }
  })

  test('does not cut emoji and combined characters', async () => {
    await using used = await use(create)
    const { channel } = used.fixture
    for (const cluster of ['👩🏽‍🚀', 'e\u0301', '🇨🇭', 'நி']) {
      const parts = channel.render(repeatOver(cluster, channel))
      assert.ok(parts.length > 1, 'a word over the limit is cut')
      assertWithinLimit(channel, parts)
      for (const part of parts) {
        assert.equal(visibleText(part).trim().replaceAll(cluster, ''), '', 'a part is whole')
      }
    }
  })

  test('renders the whole reply in as many messages as it takes, since the host decides how many are sent', async () => {
    await using used = await use(create)
    const { channel } = used.fixture
    const { part, parts = 10 } = channel.limits
    const line = `${'Much to say. '.repeat(Math.ceil(part / 26))}\n\n`
    const rendered = channel.render(`${line.repeat(2 * parts + 3)}The end.`)
    assert.ok(rendered.length > parts + 1, `${rendered.length} messages`)
    assert.ok(visibleText(rendered.at(-1) as Part).includes('The end.'), 'the last message is the end')
  })

  test('sends nothing for blank text', async () => {
    await using used = await use(create)
    for (const blank of ['', ' \t', '\n\n']) assert.deepEqual(used.fixture.channel.render(blank), [])
  })

  test('refuses a text that is not an address with bad-target', async () => {
    await using used = await use(create)
    for (const address of ['', ' ', ...badAddresses]) {
      assert.throws(
        () => used.fixture.channel.target(address),
        (error) => isPluginError(error) && error.code === 'bad-target' && !error.retryable,
        `'${address}' is refused`,
      )
    }
  })

  test('gives each place one key, and different places different keys', async () => {
    await using used = await use(create)
    const { channel } = used.fixture
    const keys = places.map((addresses) => {
      const named = new Set([...addresses, ...addresses].map((address) => channel.target(address).key))
      assert.equal(named.size, 1, `one key for ${addresses.join(', ')}`)
      return [...named][0]
    })
    assert.equal(new Set(keys).size, places.length, 'a key for each place')
  })

  test('sends one message for a key that is sent twice', async (t) => {
    await using used = await use(create)
    const { channel, messages } = used.fixture
    if (channel.idempotency === undefined) return t.skip('the channel promises no idempotency')
    await sendAll(channel, to, 'Only once.')
    await sendAll(channel, to, 'Only once.')
    assert.equal(messages().length, 1)
  })

  test('returns a receipt that can be stored and shows no secret', async () => {
    await using used = await use(create)
    for (const receipt of await sendAll(used.fixture.channel, to, 'A short text.')) {
      assert.ok(typeof receipt.id === 'string' && receipt.id.trim() !== '', 'a receipt has an id')
      assert.ok(receipt.at === undefined || !Number.isNaN(Date.parse(receipt.at)), '`at` is a time')
      assertStorable(receipt, secretsOf(used.fixture))
    }
  })

  test('sends nothing and soon throws a PluginError when aborted before it starts', async () => {
    await using used = await use(create)
    const sending = sendFirst(used.fixture.channel, to, AbortSignal.abort())
    await within(assertPluginError(sending, secretsOf(used.fixture)), 'an aborted send ends')
    assert.deepEqual(used.fixture.messages(), [])
  })

  test('soon throws a PluginError when aborted in the middle', async (t) => {
    await using used = await use(create)
    if (used.fixture.stall === undefined) return t.skip('the fixture has no vendor that could stall')
    used.fixture.stall()
    const abort = new AbortController()
    const sending = assertPluginError(
      sendFirst(used.fixture.channel, to, abort.signal),
      secretsOf(used.fixture),
    )
    setImmediate(() => abort.abort())
    await within(sending, 'an aborted send ends')
  })

  test('throws a PluginError that shows no secret when the vendor refuses', async (t) => {
    await using used = await use(create)
    if (used.fixture.fail === undefined) return t.skip('the fixture has no vendor that could fail')
    used.fixture.fail()
    const sending = sendFirst(used.fixture.channel, to, new AbortController().signal)
    await within(assertPluginError(sending, secretsOf(used.fixture)), 'a refused send ends')
  })

  test('leaves nothing open after close', async () => {
    const before = openResources()
    {
      await using used = await use(create)
      await sendAll(used.fixture.channel, to, 'A short text.')
    }
    assert.deepEqual(await leaksOf(before), [])
  })

  test('does nothing on import', () => assertInertPlugin(plugin))
}

async function use(create: ChannelConformance['create']) {
  const fixture = await create()
  return {
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture.close?.()
    },
  }
}

async function sendAll(channel: Channel, to: string, markdown: string) {
  const target = channel.target(to)
  const receipts = []
  for (const [index, part] of channel.render(markdown).entries()) {
    const call = { target, key: `${delivery}:${index + 1}`, signal: new AbortController().signal }
    receipts.push(await within(channel.send(Object.freeze(part), call), 'the send ends'))
  }
  return receipts
}

async function sendFirst(channel: Channel, to: string, signal: AbortSignal) {
  const [part] = channel.render('A short text.')
  assert.ok(part !== undefined)
  return channel.send(part, { target: channel.target(to), key: `${delivery}:1`, signal })
}

const delivery = '019a0000-0000-7000-8000-000000000001'

function sizeOf(text: string, { limits }: Channel): number {
  return measureIn(limits.unit)(text)
}

function assertWithinLimit(channel: Channel, parts: readonly Part[]): void {
  for (const { text } of parts) {
    const size = sizeOf(text, channel)
    assert.ok(size <= channel.limits.part, `a part of ${size} is within ${channel.limits.part}`)
  }
}

/** A line that is a third longer than the limit. */
function repeatOver(text: string, channel: Channel): string {
  return text.repeat(Math.ceil((channel.limits.part * 4) / 3 / sizeOf(text, channel)))
}

function longProse(channel: Channel): string {
  let text = ''
  for (let line = 1; sizeOf(text, channel) <= channel.limits.part; line += 1) {
    text += `Line ${line} says a little more. Then it stops.${line % 5 === 0 ? '\n\n' : '\n'}`
  }
  return text
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
