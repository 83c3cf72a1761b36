/**
 * Tests a hundred replies and random ones on every surface: each message is within the vendor's limit and is taken by its fake server, no
 * word is lost, and no one is mentioned.
 *
 * The words of the reply (without markup and without addresses behind labels) are compared with what the fake server reads of the parts,
 * both without white space and invisible characters. Each word must be there, after the word before it. Parts may hold more: markers of
 * items, rules, addresses beside labels, an ellipsis where an item continues, and heads of tables, which precede each cell if a surface
 * has no tables.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, lengthIn, type Part } from '@reveille/kit'
import {
  type Block,
  createWriter,
  type Inline,
  markdownDialect,
  parseMarkdown,
  readText,
} from '@reveille/kit/markdown'
import fc from 'fast-check'
import { setUp } from '../../plugins/kit/conformance/opened-vendor.ts'
import { replies } from './corpus/replies.ts'
import { randomTexts, randomTrees } from './random-trees.ts'
import { type Surface, surfaces } from './vendors.ts'

/** Number of messages sent of a very long reply, which is enough to test a vendor's limits. */
const sentOfEach = 3

const randomReplies = fc.oneof(randomTrees.map(createWriter(markdownDialect())), randomTexts)

for (const surface of surfaces) {
  test(`a hundred replies on ${surface.name} fit its messages, lose no word, are taken as they are cut, and mention no one`, async () => {
    await using used = await setUp(surface)
    const { channel, vendor } = used
    const target = channel.target(vendor.to)
    let sent = 0
    for (const { name, text } of replies) {
      for (const part of checkedParts(channel, surface, text, name).slice(0, sentOfEach)) {
        sent += 1
        const { signal } = new AbortController()
        await assert.doesNotReject(channel.send(part, { target, key: `d${sent}:1`, signal }), name)
      }
      assert.equal(vendor.messages.length, sent, `${name} is stored as it was cut`)
      assert.deepEqual(vendor.pings ?? [], [], `${name} mentions no one`)
    }
  })

  test(`any reply fits the messages of ${surface.name} and loses no word`, async () => {
    await using used = await setUp(surface)
    fc.assert(
      fc.property(randomReplies, (markdown) => {
        checkedParts(used.channel, surface, markdown, markdown)
      }),
      { seed: 20261121, numRuns: 40 },
    )
  })
}

/** The surfaces that show no addresses beside their labels, and so nothing but what the Markdown says. */
const verbatim = surfaces.filter(({ name }) => /^(?:slack|mattermost|msteams) /.test(name))

/** Pieces of each kind of markup, complete and incomplete, with mentions and addresses. */
const pieces = [
  ...[
    '**',
    '*',
    '_',
    '~~',
    '`',
    '``',
    '[',
    '](https://example.org/x)',
    ']',
    '!',
    '<',
    '>',
    '&',
    '&lt;',
    '\\',
    '|',
  ],
  ...[
    'foo',
    'bar',
    'a_b',
    'x*y',
    '~/p',
    '漢',
    '👩🏽‍🚀',
    'é',
    '(',
    ')',
    '.',
    ':',
    '"',
    '<b>',
    '</b>',
    '&amp;',
  ],
  ...[' @channel', '<!here>', '<@U12345>', '@all', '@ada', '<at>', '<at>Ada</at>', '`<at>`'],
  ...[' ', ' ', ' ', '\n', '\n\n', '- ', '1. ', '> ', '# ', '---', '```\ncode <b> `x`\n```\n'],
  ...['ada@example.org', 'https://e.org/a_b', 'http\\://e.org', 'www.e.org', '[x](https://e.org/y_z)'],
]

for (const surface of verbatim)
  test(`a person on ${surface.name} reads what the Markdown of any reply says, and no one is mentioned`, async () => {
    await using used = await setUp(surface)
    const { vendor } = used
    const some = fc.array(fc.constantFrom(...pieces), { maxLength: 16 })
    await fc.assert(
      fc.asyncProperty(some, async (chosen) => {
        const reply = `Text: ${chosen.join('')}`
        const before = vendor.messages.length
        await used.send(reply, { delivery: `d${before}` })
        const shown = vendor.messages.slice(before).map(({ text }) => text)
        assert.equal(lettersOf(shown.join('\n')), lettersOf(readText(parseMarkdown(reply))), reply)
      }),
      { seed: 20261121, numRuns: 200 },
    )
    assert.deepEqual(vendor.pings, [])
    const fetched = vendor.messages.flatMap((message) => message['fetched'] ?? [])
    assert.deepEqual(fetched, [], 'the vendor fetches no address')
  })

/** Without the signs of lists, quotes and rules, which the text of a tree does not have, and schemes that Slack adds. */
function lettersOf(text: string): string {
  return text
    .replaceAll(/^[ >]*(?:\d+\.|[•◦▪])(?= |$)/gm, '')
    .replaceAll(/[\s>•◦▪—\u2060\u200b-]|\d+\.|http:\/\/(?=www)/g, '')
}

/** Renders a reply, and asserts that its parts are within the limit, cut inside no character, and hold all of its words. */
function checkedParts(
  channel: Channel,
  { visibleText }: Surface,
  markdown: string,
  name: string,
): readonly Part[] {
  const { part: limit, unit } = channel.limits
  const parts = channel.render(markdown)
  for (const { text } of parts) {
    const size = lengthIn(unit)(text)
    assert.ok(size <= limit, `${name}: a part of ${size} ${unit} is within ${limit}`)
    assert.ok(text.isWellFormed(), `${name}: no pair of surrogates is cut`)
    assert.notEqual(text.trim(), '', `${name}: no part is blank`)
  }
  const shown = squeeze(parts.map(visibleText).join('\n'))
  const { words, heads } = wordsOf(parseMarkdown(markdown))
  let at = 0
  for (const word of words) {
    const found = shown.indexOf(word, at)
    assert.ok(found >= 0, `${name}: "${word}" is lost after "${shown.slice(Math.max(0, at - 40), at)}"`)
    at = found + word.length
  }
  for (const word of heads) assert.ok(shown.includes(word), `${name}: "${word}" of a head is lost`)
  return parts
}

interface Words {
  readonly words: string[]
  /** The words in the heads of tables. */
  readonly heads: string[]
}

/** Returns the words of a tree. A text in a link or in marks has words of its own, since added text may separate it. */
function wordsOf(tree: readonly Block[]): Words {
  const words: string[] = []
  const heads: string[] = []

  function addText(text: string, into: string[]): void {
    for (const word of text.split(/\s+/).map(squeeze)) if (word !== '') into.push(word)
  }

  function addInlines(inlines: readonly Inline[], into: string[]): void {
    for (const each of inlines) {
      if (each.type === 'text' || each.type === 'code') addText(each.text, into)
      else if (each.type === 'image') addText(each.description, into)
      else if (each.type !== 'break') addInlines(each.children, into)
    }
  }

  function addBlocks(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.type === 'code') addText(block.text, words)
      else if (block.type === 'quote') addBlocks(block.blocks)
      else if (block.type === 'list') for (const item of block.items) addBlocks(item.blocks)
      else if (block.type === 'table') {
        for (const cell of block.head) addInlines(cell, heads)
        for (const row of block.rows) for (const cell of row) addInlines(cell, words)
      } else if (block.type !== 'rule') addInlines(block.children, words)
    }
  }

  addBlocks(tree)
  return { words, heads }
}

/** Removes the schemes of e-mail addresses and telephone numbers, and encodings, which only some surfaces write. */
function squeeze(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/mailto:|tel:/g, '')
    .replaceAll(/%(?:7E|2A|5F|60|28|29|5B|5D)/gi, (each) => decodeURIComponent(each))
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '')
}
