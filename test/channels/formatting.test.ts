/**
 * Tests a hundred replies on every surface: each message is within the vendor's limit and is taken by its fake server, no word is lost,
 * and no one is mentioned.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Channel, lengthIn, type Part } from '@reveille/kit'
import { parseMarkdown, readText } from '@reveille/kit/markdown'
import { type Reply, replies } from './corpus/replies.ts'
import { openSurface, surfaces } from './surfaces.ts'

/** Number of messages sent of a very long reply, which is enough to test a vendor's limits. */
const sentOfEach = 3

for (const surface of surfaces) {
  describe(`a hundred replies on ${surface.name}`, () => {
    /** The rendered replies, which are the same in each test since rendering is pure. */
    const rendered = new Map<Reply, readonly Part[]>()
    function partsOf(reply: Reply, channel: Channel): readonly Part[] {
      const parts = rendered.get(reply) ?? channel.render(reply.text)
      rendered.set(reply, parts)
      return parts
    }

    test('fit the limit of a message, are cut inside no character, and lose no word', async () => {
      await using opened = await openSurface(surface)
      for (const reply of replies) {
        const parts = partsOf(reply, opened.channel)
        assertWithinLimit(opened.channel, parts, reply.name)
        assertNothingLost(reply, parts.map(opened.visibleText))
      }
    })

    test('are taken by the vendor, each part as one message, and mention no one', async () => {
      await using opened = await openSurface(surface)
      const { channel, vendor } = opened
      const target = channel.target(vendor.to)
      let sent = 0
      for (const reply of replies) {
        for (const part of partsOf(reply, channel).slice(0, sentOfEach)) {
          sent += 1
          const { signal } = new AbortController()
          await assert.doesNotReject(channel.send(part, { target, key: `d${sent}:1`, signal }), reply.name)
        }
        assert.equal(vendor.messages.length, sent, `${reply.name} is stored as it was cut`)
        assert.deepEqual(vendor.pings ?? [], [], `${reply.name} mentions no one`)
      }
    })
  })
}

function assertWithinLimit({ limits }: Channel, parts: readonly Part[], name: string): void {
  for (const { text } of parts) {
    const size = lengthIn(limits.unit)(text)
    assert.ok(size <= limits.part, `${name}: a part of ${size} is within ${limits.part}`)
    assert.ok(text.isWellFormed(), `${name}: no pair of surrogates is cut`)
  }
}

/**
 * Asserts that each visible character of the reply is there in order. A surface may add others (numbers of lists, addresses of
 * links, heads of tables that continue). Tables may be written row by row, so that their words are looked for in any order.
 */
function assertNothingLost(reply: Reply, shown: readonly string[]): void {
  const { name } = reply
  const { words, signs } = wantedOf(reply)
  const joined = shown.join('\n')
  const found = visible(joined)
  if (words !== undefined) {
    for (const word of words) assert.ok(found.includes(word), `${name}: ${word}`)
    return
  }
  const lost = firstMissing(signs, found)
  assert.equal(lost, undefined, `${name}: lost ${lost}\n${joined.slice(0, 2000)}`)
}

interface Wanted {
  readonly signs: string
  /** Of a reply with a table. */
  readonly words?: readonly string[]
}

/** The expected content is the same on every surface. */
const wantedOfEach = new Map<Reply, Wanted>()

function wantedOf(reply: Reply): Wanted {
  const known = wantedOfEach.get(reply)
  if (known !== undefined) return known
  const tree = parseMarkdown(reply.text)
  const text = readText(tree)
  const hasTable = tree.some(({ type }) => type === 'table')
  const wanted = { signs: visible(text), ...(hasTable && { words: text.split(/\s+/).map(visible) }) }
  wantedOfEach.set(reply, wanted)
  return wanted
}

/**
 * Removes white space and invisible characters: joiners, directions and control characters. Signs that would be markup may
 * be percent-encoded in an address.
 */
function visible(text: string): string {
  const signs = text.replaceAll(/%(?:5F|2A|7E)/g, (written) => decodeURIComponent(written))
  return signs.toWellFormed().replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
}

/** Returns where the wanted characters stop being found in order, or undefined if all are found. */
function firstMissing(wanted: string, found: string): string | undefined {
  let at = 0
  for (const [index, sign] of [...wanted].entries()) {
    const next = found.indexOf(sign, at)
    if (next < 0) return `${[...wanted].slice(index, index + 30).join('')}`
    at = next + sign.length
  }
  return undefined
}
