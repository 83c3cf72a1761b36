/** Tests what every channel must do. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Channel, Part } from '../channel.ts'
import { lengthIn } from '../measure.ts'
import { isPluginError } from '../plugin-error.ts'
import { assertPluginError, assertStorable } from './assertions.ts'
import { openFixture } from './closed-once.ts'
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
  /** True if the vendor's markup has code fences. Default: true. */
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
  for (const promise of Object.keys(promises)) channelTest(promise, options)
}

/** One of the tests, by its name. */
export function channelTest(promise: string, options: Omit<ChannelConformance, 'name'>): void {
  const { secrets = [], fences = true, visibleText = ({ text }: Part) => text } = options
  const to = options.places[0]?.[0]
  assert.ok(to !== undefined, 'the suite needs a place to send to')
  test(promise, async (t) => {
    const create = () => openFixture(t, options.create)
    const fixture = await create()
    const all = [...secrets, ...(fixture.secrets ?? [])]
    await promises[promise]?.(fixture, { ...options, create, secrets: all, fences, visibleText, to, t })
  })
}

/** The fixture and context of a test. */
interface Asked extends Required<Omit<ChannelConformance, 'name'>> {
  readonly t: TestContext
  /** The address to send to. */
  readonly to: string
}

/** The tests by name. */
const promises: Readonly<Record<string, (fixture: ChannelFixture, asked: Asked) => Promise<void>>> = {
  async 'delivers a short text as one message'(fixture, { to }) {
    await sendAll(fixture.channel, to, 'A short text.')
    const seen = fixture.messages()
    assert.equal(seen.length, 1)
    assert.ok(seen[0]?.includes('A short text.'), 'the message holds the text')
  },

  async 'delivers a long text as parts within the limit that hold all of its words in order'(
    fixture,
    { to, visibleText },
  ) {
    const { channel } = fixture
    const text = longProse(channel)
    const parts = channel.render(text)
    assert.ok(parts.length > 1, 'a text over the limit is cut')
    assertWithinLimit(channel, parts)
    assert.deepEqual(
      parts.flatMap((part) => wordsOf(visibleText(part))),
      wordsOf(text),
    )
    await sendAll(channel, to, text)
    assert.equal(fixture.messages().length, parts.length, 'one part is one message')
  },

  async 'closes a code fence at a cut and opens it again with its language'({ channel }, { t, fences }) {
    if (!fences) return t.skip('the vendor has no fences')
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
  },

  async 'does not cut emoji and combined characters'({ channel }, { visibleText }) {
    for (const cluster of ['👩🏽‍🚀', 'e\u0301', '🇨🇭', 'நி']) {
      const parts = channel.render(repeatOver(cluster, channel))
      assert.ok(parts.length > 1, 'a word over the limit is cut')
      assertWithinLimit(channel, parts)
      for (const part of parts) {
        assert.equal(visibleText(part).trim().replaceAll(cluster, ''), '', 'a part is whole')
      }
    }
  },

  async 'renders the whole reply in as many messages as it takes, since the host decides how many are sent'(
    { channel },
    { visibleText },
  ) {
    const { part, parts = 10 } = channel.limits
    const line = `${'Much to say. '.repeat(Math.ceil(part / 26))}\n\n`
    const rendered = channel.render(`${line.repeat(2 * parts + 3)}The end.`)
    assert.ok(rendered.length > parts + 1, `${rendered.length} messages`)
    assert.ok(visibleText(rendered.at(-1) as Part).includes('The end.'), 'the last message is the end')
  },

  async 'sends nothing for blank text'(fixture) {
    for (const blank of ['', ' \t', '\n\n']) assert.deepEqual(fixture.channel.render(blank), [])
  },

  async 'refuses a text that is not an address with bad-target'(fixture, { badAddresses }) {
    for (const address of ['', ' ', ...badAddresses]) {
      assert.throws(
        () => fixture.channel.target(address),
        (error) => isPluginError(error) && error.code === 'bad-target' && !error.retryable,
        `'${address}' is refused`,
      )
    }
  },

  async 'gives each place one key, and different places different keys'({ channel }, { places }) {
    const keys = places.map((addresses) => {
      const named = new Set([...addresses, ...addresses].map((address) => channel.target(address).key))
      assert.equal(named.size, 1, `one key for ${addresses.join(', ')}`)
      return [...named][0]
    })
    assert.equal(new Set(keys).size, places.length, 'a key for each place')
  },

  async 'sends one message for a key that is sent twice'({ channel, messages }, { t, to }) {
    if (channel.idempotency === undefined) return t.skip('the channel promises no idempotency')
    await sendAll(channel, to, 'Only once.')
    await sendAll(channel, to, 'Only once.')
    assert.equal(messages().length, 1)
  },

  async 'returns a receipt that can be stored and shows no secret'(fixture, { to, secrets }) {
    for (const receipt of await sendAll(fixture.channel, to, 'A short text.')) {
      assert.ok(typeof receipt.id === 'string' && receipt.id.trim() !== '', 'a receipt has an id')
      assert.ok(receipt.at === undefined || !Number.isNaN(Date.parse(receipt.at)), '`at` is a time')
      assertStorable(receipt, secrets)
    }
  },

  async 'sends nothing and soon throws a PluginError when aborted before it starts'(
    fixture,
    { to, secrets },
  ) {
    const sending = sendFirst(fixture.channel, to, AbortSignal.abort())
    await within(assertPluginError(sending, secrets), 'an aborted send ends')
    assert.deepEqual(fixture.messages(), [])
  },

  async 'soon throws a PluginError when aborted in the middle'(fixture, { t, to, secrets }) {
    if (fixture.stall === undefined) return t.skip('the fixture has no vendor that could stall')
    fixture.stall()
    const abort = new AbortController()
    const sending = assertPluginError(sendFirst(fixture.channel, to, abort.signal), secrets)
    setImmediate(() => abort.abort())
    await within(sending, 'an aborted send ends')
  },

  async 'throws a PluginError that shows no secret when the vendor refuses'(fixture, { t, to, secrets }) {
    if (fixture.fail === undefined) return t.skip('the fixture has no vendor that could fail')
    fixture.fail()
    const sending = sendFirst(fixture.channel, to, new AbortController().signal)
    await within(assertPluginError(sending, secrets), 'a refused send ends')
  },

  async 'leaves nothing open after close'(_fixture, { create, to }) {
    const before = await openResources()
    const fixture = await create()
    await sendAll(fixture.channel, to, 'A short text.')
    await fixture.close?.()
    assert.deepEqual(await leaksOf(before), [])
  },

  'does nothing on import': (_fixture, { plugin }) => assertInertPlugin(plugin),
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
  return lengthIn(limits.unit)(text)
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
