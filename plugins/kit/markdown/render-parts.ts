/** Renders a reply as the messages that it becomes. */

import type { ChannelLimits, Part } from '../channel.ts'
import { lengthIn } from '../measure.ts'
import { graphemesOf } from '../width.ts'
import { chooseCut, readPositions } from './cut.ts'
import type { Dialect } from './dialect.ts'
import { parseMarkdown, visible } from './parse.ts'
import { shorten } from './shorten.ts'
import { type Children, childAt, createSlicer, type Slicer } from './slice.ts'
import type { Block, Inline, ListItem } from './tree.ts'
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
 * Returns the reply as messages of at most `limit`, in order; none for blank text. It is cut between blocks, then between
 * lines, sentences, words and graphemes, and never inside a code span, a link or a grapheme that fits into a message. Code,
 * lists, quotes and tables that continue in the next message are closed and opened again there.
 *
 * @throws RangeError if `limit` does not hold a single character of the text
 */
export function renderParts<Part>(markdown: string, options: RenderOptions<Part>): Part[] {
  return renderBlocks(parseMarkdown(markdown), options)
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
  given: readonly Block[],
  { write, measure, limit }: RenderOptions<Part>,
): Part[] {
  const slicer = createSlicer()
  const fits = (blocks: readonly Block[]) =>
    slicer.extent(blocks) <= 2.5 * limit && measure(write(blocks)) <= limit
  const blocks = given.flatMap((block) => shorten(block, limit, fits))
  const end = slicer.extent(blocks)
  const messages: Part[] = []
  /** The length per position in the last message, for a first guess at the end of the next one. */
  let density = 1.1

  /** Returns the last position up to which everything fits, or `from` if nothing does. */
  function lastFitting(from: number): number {
    const size = (to: number) => measure(write(slicer.slice(blocks, from, to)))
    let low = from
    let lowSize = 0
    let high = Math.min(end, from + Math.ceil(2.5 * limit))
    let highSize = (high - from) * density
    if (high === end && highSize <= 1.5 * limit) {
      highSize = size(end)
      if (highSize <= limit) return end
    }
    high = Math.max(high, from + 1)
    let guess = from + Math.floor(limit / density)
    for (let tries = 0; high - low > 1 && limit - lowSize > limit / 64; tries += 1) {
      const middle = tries % 3 === 2 ? (low + high) >> 1 : guess
      const at = Math.min(high - 1, Math.max(low + 1, middle))
      const measured = size(at)
      if (measured <= limit) {
        low = at
        lowSize = measured
      } else {
        high = at
        highSize = measured
      }
      guess = low + Math.floor(((limit - lowSize) * (high - low)) / Math.max(1, highSize - lowSize))
    }
    if (low === from && size(high) <= limit) return high
    return low
  }

  function cut(from: number): { part: Part; to: number } | undefined {
    for (let to = lastFitting(from); to > from; ) {
      const chosen = to === end ? end : chooseCut(blocks, slicer, { from, to, fits })
      if (chosen === undefined) return undefined
      const part = write(slicer.slice(blocks, from, chosen))
      const size = measure(part)
      if (size <= limit) {
        density = Math.max(0.2, size / (chosen - from))
        return { part, to: chosen }
      }
      to = Math.min(to, chosen) - 1
    }
    return undefined
  }

  /** Cuts what should stay whole and does not fit: without its surroundings and, if necessary, without its marks. */
  function forceCut(from: number): { part: Part; to: number } {
    const leaf = leafAt(slicer, blocks, from)
    const start = from - leaf.start
    const rest = leaf.text.slice(start, start + 2 * limit)
    for (const bare of [leaf.bare, plain])
      for (const pieces of [graphemesOf(rest), [...rest]]) {
        const ends = endsOf(pieces)
        const part = (count: number) => write(bare(leaf, start, start + (ends[count - 1] ?? 0)))
        const count = maxThat((count) => measure(part(count)) <= limit, ends.length)
        if (count > 0) return { part: part(count), to: from + (ends[count - 1] ?? 0) }
      }
    throw new RangeError(`A limit of ${limit} holds not one character.`)
  }

  for (let from = 0; from < end; ) {
    const { part, to } = cut(from) ?? forceCut(from)
    // Services refuse a message in which nothing can be seen, and with it the rest of the reply.
    if (slicer.slice(blocks, from, to).some(isSeen)) messages.push(part)
    from = to
  }
  return messages
}

function leafAt(slicer: Slicer, children: Children, position: number, base = 0): Leaf {
  const positions = slicer.starts(children)
  const index = childAt(positions, position - base)
  const start = base + (positions[index] ?? 0)
  const child = children[index]
  if (Array.isArray(child)) {
    const isRow = child.every(Array.isArray)
    if (isRow) return leafAt(slicer, child as Children, position, start)
    return leafOf(slicer, { type: 'paragraph', children: child as Inline[] }, start)
  }
  const node = child as Block | ListItem
  if (!('type' in node)) return leafAt(slicer, node.blocks, position, start)
  if (node.type === 'quote') return leafAt(slicer, node.blocks, position, start)
  if (node.type === 'list') return leafAt(slicer, node.items, position, start)
  if (node.type === 'table') return leafAt(slicer, node.rows, position, start)
  return leafOf(slicer, node, start)
}

function leafOf(slicer: Slicer, block: Block, start: number): Leaf {
  const text = block.type === 'code' ? block.text : 'children' in block ? readPositions(block.children) : ' '
  return { start, text: text === '' ? ' ' : text, bare: (_, from, to) => slicer.slice([block], from, to) }
}

/** Lists and tables show their own signs, whatever is in them. */
function isSeen(block: Block): boolean {
  if (block.type === 'quote') return block.blocks.some(isSeen)
  if (block.type === 'code') return visible.test(block.text)
  if ('children' in block) return visible.test(readPositions(block.children))
  return true
}

interface Leaf {
  readonly start: number
  readonly text: string
  bare(leaf: Leaf, from: number, to: number): Block[]
}

function plain(leaf: Leaf, from: number, to: number): Block[] {
  return [{ type: 'paragraph', children: [{ type: 'text', text: leaf.text.slice(from, to) }] }]
}

function endsOf(pieces: readonly string[]): number[] {
  let end = 0
  return pieces.map((piece) => {
    end += piece.length
    return end
  })
}

/** Returns the greatest number up to `max` for which `holds` is true, or 0 if there is none. */
function maxThat(holds: (count: number) => boolean, max: number): number {
  let low = 0
  let high = max + 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle
    else high = middle
  }
  return low
}
