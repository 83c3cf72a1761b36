/** Renders a reply as the messages that it becomes. */

import type { ChannelLimits, Part } from '../channel.ts'
import { lengthIn } from '../measure.ts'
import { positionsOf } from './cut-text.ts'
import type { Dialect } from './dialect.ts'
import { divideBlocks, simplify } from './divide.ts'
import { markdownDialect } from './markdown-dialect.ts'
import { parseMarkdown, visible } from './parse.ts'
import type { Block } from './tree.ts'
import { createWriter } from './writer.ts'

export interface RenderOptions<Part> {
  /** Returns the message that shows these blocks. Pure. */
  write(blocks: readonly Block[]): Part
  /** Returns the length of a message as the vendor counts it. */
  measure(part: Part): number
  /** Maximum length of a message, in the unit of `measure`. */
  readonly limit: number
}

/**
 * Returns the reply as messages of at most `limit`, in order; none for blank text. A block that fits into a message is
 * not cut. Others are cut between items, rows, lines or words, and inside a code span, a link, a word or a grapheme only if no message can hold it. Code,
 * lists, quotes and tables that continue in the next message are closed and opened again there.
 *
 * @throws RangeError if `limit` does not hold a single character of the text
 */
export function renderParts<Part>(markdown: string, options: RenderOptions<Part>): Part[] {
  return renderBlocks(parseMarkdown(markdown), options)
}

/**
 * Returns a text that fits into one part as it was written, without white space around it, and a longer one in parts that can be read on
 * their own; none for blank text. For readers that show Markdown themselves.
 *
 * @throws RangeError if a part does not hold a single character of the text
 */
export function splitMarkdown(markdown: string, limits: Pick<ChannelLimits, 'part' | 'unit'>): string[] {
  const text = markdown
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .trimEnd()
    .replace(/^\s*\n/, '')
  if (text === '') return []
  if (lengthIn(limits.unit)(text) <= limits.part) return [text]
  return createTextRenderer(markdownDialect(), limits)(text).map((part) => part.text)
}

/** Creates the function that renders a reply as texts in a dialect. `arrange` changes the blocks of each part before. */
export function createTextRenderer(
  dialect: Dialect,
  { part, unit }: Pick<ChannelLimits, 'part' | 'unit'>,
  arrange: (blocks: readonly Block[]) => readonly Block[] = (blocks) => blocks,
): (markdown: string) => Part[] {
  const writeBlocks = createWriter(dialect)
  const measure = lengthIn(unit)
  const write = (blocks: readonly Block[]) => writeBlocks(arrange(blocks))
  return (markdown) =>
    renderParts(markdown, { write, measure, limit: part })
      .filter((text) => text.trim() !== '')
      .map((text) => ({ text }))
}

/** Renders a tree in the same way. */
export function renderBlocks<Part>(
  blocks: readonly Block[],
  { write, measure, limit }: RenderOptions<Part>,
): Part[] {
  // A character of the text takes at least one unit, but for the few that a surface writes shorter.
  const max = Math.ceil(2.5 * limit)
  const fits = (taken: readonly Block[]) => countText(taken, max) <= max && measure(write(taken)) <= limit
  const room = { isEmpty: true, max, fits, fitsAlone: (block: Block) => fits([block]) }
  const messages: Part[] = []
  for (let rest = blocks; rest[0] !== undefined; ) {
    const divided = divideBlocks(rest, room)
    // Services refuse a message in which nothing can be seen, and with it the rest of the reply.
    if (divided?.taken.some(isSeen)) messages.push(write(divided.taken))
    rest = divided?.rest ?? [...simplify(rest[0], limit), ...rest.slice(1)]
  }
  return messages
}

/** Lists and tables show their own signs, whatever is in them. */
function isSeen(block: Block): boolean {
  if (block.type === 'quote') return block.blocks.some(isSeen)
  if (block.type === 'code') return visible.test(block.text)
  if ('children' in block) return visible.test(positionsOf(block.children))
  return true
}

/** Counts the characters of all texts in a tree until there are more than `max`, so that a long tree is not written in vain. */
function countText(node: unknown, max: number): number {
  if (typeof node === 'string') return node.length
  if (typeof node !== 'object' || node === null) return 0
  let count = 0
  for (const value of Array.isArray(node) ? node : Object.values({ ...node, type: undefined })) {
    count += countText(value, max)
    if (count > max) break
  }
  return count
}
