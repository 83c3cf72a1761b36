/**
 * Tests random replies on every surface, from trees and from loose characters. The words of the tree (without markup and without
 * addresses behind labels) are compared with what the vendor's fake server reads of the parts, both without white space and
 * invisible characters. Each word must be there, after the word before it. Parts may hold more: markers of items, rules,
 * addresses beside labels, an ellipsis where an item continues, and heads of tables, which precede each cell if a
 * surface has no tables.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lengthIn } from '@reveille/kit'
import { type Block, createWriter, type Inline, markdownDialect, parseMarkdown } from '@reveille/kit/markdown'
import fc from 'fast-check'
import { randomTexts, randomTrees } from './random-trees.ts'
import { type OpenSurface, openSurface, surfaces } from './surfaces.ts'

const write = createWriter(markdownDialect())
const randomReplies = fc.oneof(randomTrees.map(write), randomTexts)

for (const surface of surfaces)
  test(`any reply fits the messages of ${surface.name} and loses no word`, async () => {
    await using opened = await openSurface(surface)
    fc.assert(
      fc.property(randomReplies, (markdown) => check(opened, markdown)),
      { seed: 20261121, numRuns: 40 },
    )
  })

function check({ channel, visibleText }: OpenSurface, markdown: string): void {
  const { part: limit, unit } = channel.limits
  const parts = channel.render(markdown)
  for (const { text } of parts) {
    const size = lengthIn(unit)(text)
    assert.ok(size <= limit, `a part of ${size} ${unit} is within ${limit}`)
    assert.notEqual(text.trim(), '', 'no part is blank')
  }
  assertHolds(parts.map(visibleText).join('\n'), parseMarkdown(markdown))
}

function assertHolds(shown: string, tree: readonly Block[]): void {
  const visible = squeeze(shown)
  const { words, heads } = wordsOf(tree)
  let at = 0
  for (const word of words) {
    const found = visible.indexOf(word, at)
    assert.ok(found >= 0, `"${word}" is lost after "${visible.slice(Math.max(0, at - 40), at)}" in\n${shown}`)
    at = found + word.length
  }
  for (const word of heads) assert.ok(visible.includes(word), `"${word}" of a head is lost in\n${shown}`)
}

interface Words {
  readonly words: string[]
  /** The words of tables. */
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
        for (const cell of block.rows.flat()) addInlines(cell, words)
      } else if (block.type !== 'rule') addInlines(block.children, words)
    }
  }

  addBlocks(tree)
  return { words, heads }
}

/** Removes the schemes of e-mail addresses and telephone numbers, and encodings, which only some surfaces write. */
function squeeze(text: string): string {
  return text
    .replaceAll(/mailto:|tel:/g, '')
    .replaceAll(/%(?:7E|2A|5F|60|28|29|5B|5D)/gi, (each) => decodeURIComponent(each))
    .replaceAll(/[\s\p{Cf}]/gu, '')
}
