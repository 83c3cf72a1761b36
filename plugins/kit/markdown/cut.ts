/** Owns where a person would cut a message that has become too long. */

import { readInlines } from './read-text.ts'
import { type Children, childAt, type Slicer } from './slice.ts'
import type { Block, Inline, ListItem } from './tree.ts'

export interface Room {
  /** Where the message begins, and the last position up to which all of it fits. */
  readonly from: number
  readonly to: number
  /** Whether these blocks would be a message by themselves. */
  fits(blocks: readonly Block[]): boolean
}

/** A message that has less than this of what would fit is nearly empty: rather than that, a block is cut. */
const nearlyEmpty = 0.25
/** A block that has to be cut in any case is not begun in what little is left. */
const nearlyFull = 0.8

/**
 * Where to end the message, after `from` and at `to` at the latest; undefined where only what should not be cut lies
 * between them.
 *
 * What fits a message of its own is not cut, but begins the next one. Code and tables do so even where that leaves
 * a message nearly empty: an introduction alone in a message reads well, and code in two messages cannot be copied.
 * Other blocks are cut then.
 */
export function chooseCut(blocks: readonly Block[], slicer: Slicer, room: Room): number | undefined {
  const { from, to } = room
  const fill = (position: number) => (position - from) / (to - from)

  function cutBetween(children: Children, base: number): number | undefined {
    const positions = slicer.starts(children)
    const index = childAt(positions, to - base)
    const start = base + (positions[index] ?? 0)
    const child = children[index]
    if (child === undefined) return to
    if (start >= to) return keepHeading(children, positions, index, base)
    if (start > from) {
      const isWhole = isPrecious(child) || fill(start) >= nearlyEmpty
      if (fill(start) >= nearlyFull || (isWhole && fitsAlone(child)))
        return keepHeading(children, positions, index, base)
    }
    const inside = cutInside(child, start)
    if (inside !== undefined) return inside
    return start > from ? start : undefined
  }

  /** A heading stays with what it is the heading of, and so does a line that announces what follows. */
  function keepHeading(children: Children, positions: Float64Array, index: number, base: number): number {
    let kept = index
    while (kept > 0 && announces(children[kept - 1])) kept -= 1
    const start = base + (positions[kept] ?? 0)
    return start > from && fill(start) >= nearlyEmpty ? start : base + (positions[index] ?? 0)
  }

  function fitsAlone(child: Children[number]): boolean {
    if (Array.isArray(child)) return true
    if (!('type' in child)) return room.fits([{ type: 'list', start: undefined, items: [child as ListItem] }])
    return room.fits([child as Block])
  }

  function cutInside(child: Children[number], start: number): number | undefined {
    if (Array.isArray(child)) return undefined
    const node = child as Block | ListItem
    if (!('type' in node)) return cutBetween(node.blocks, start)
    switch (node.type) {
      case 'quote':
        return cutBetween(node.blocks, start)
      case 'list':
        return cutBetween(node.items, start)
      case 'table':
        return cutBetween(node.rows, start)
      case 'code':
        return cutText(node.text, [], start, isLineStart)
      case 'paragraph':
      case 'heading':
        return cutText(readPositions(node.children), uncuttable(node.children), start)
      case 'rule':
        return undefined
    }
  }

  function cutText(text: string, whole: readonly Stretch[], start: number, only?: typeof isLineStart) {
    const low = Math.max(0, from - start)
    const high = to - start
    const cut = cutPoint(text, whole, low, high, (at) => fill(start + at), start <= from, only)
    return cut === undefined ? undefined : start + cut
  }

  return cutBetween(blocks, 0)
}

function isPrecious(child: Children[number]): boolean {
  return !Array.isArray(child) && 'type' in child && (child.type === 'code' || child.type === 'table')
}

function announces(child: Children[number] | undefined): boolean {
  if (child === undefined || Array.isArray(child) || !('type' in child)) return false
  if (child.type === 'heading') return true
  if (child.type !== 'paragraph') return false
  const text = readInlines(child.children)
  return text.length < 240 && text.endsWith(':')
}

/** A link, a code span or the like: a cut may be at either end of it. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

const positionTexts = new WeakMap<readonly Inline[], string>()

/** The text of a paragraph, a unit for each position. */
export function readPositions(inlines: readonly Inline[]): string {
  const known = positionTexts.get(inlines)
  if (known !== undefined) return known
  let text = ''
  for (const each of inlines) {
    if (each.type === 'break') text += '\n'
    else if (each.type === 'image') text += '\ufffc'
    else text += 'children' in each ? readPositions(each.children) : each.text || '\ufffc'
  }
  positionTexts.set(inlines, text)
  return text
}

const stretches = new WeakMap<readonly Inline[], readonly Stretch[]>()

function uncuttable(inlines: readonly Inline[]): readonly Stretch[] {
  const known = stretches.get(inlines)
  if (known !== undefined) return known
  const found: Stretch[] = []
  let at = 0
  for (const each of inlines) {
    const length = readPositions([each]).length
    if (each.type === 'link' || each.type === 'code') found.push({ start: at, end: at + length })
    else if ('children' in each)
      for (const inner of uncuttable(each.children))
        found.push({ start: at + inner.start, end: at + inner.end })
    at += length
  }
  stretches.set(inlines, found)
  return found
}

const isLineStart = (text: string, at: number) => text[at - 1] === '\n'

const segmenters = {
  sentence: new Intl.Segmenter('en', { granularity: 'sentence' }),
  word: new Intl.Segmenter('en', { granularity: 'word' }),
  grapheme: new Intl.Segmenter('en', { granularity: 'grapheme' }),
}
/** Segmenting looks at no more than this before the end of the room. */
const lookBehind = 4096
const white = /\s/
const combining = /[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d]/u

/** The best cut after `low` and at `high` at the latest: after a line, a sentence, a word, a grapheme. */
function cutPoint(
  text: string,
  whole: readonly Stretch[],
  low: number,
  high: number,
  fill: (at: number) => number,
  mustCut: boolean,
  only?: (text: string, at: number) => boolean,
): number | undefined {
  const isFree = (at: number) => {
    const stretch = whole[stretchAt(whole, at)]
    return stretch === undefined || at <= stretch.start
  }
  const last = (accepts: (at: number) => boolean, least: number) => {
    for (let at = high; at > low && fill(at) >= least; at -= 1) if (accepts(at) && isFree(at)) return at
    return undefined
  }
  const line = last((at) => isLineStart(text, at), only === undefined ? 0.5 : nearlyEmpty)
  if (line !== undefined) return line
  const near = Math.max(low, high - lookBehind)
  const seen = text.slice(near, high + 64)
  const segmented = (granularity: keyof typeof segmenters, least: number) => {
    // Whatever stands where looking begins would seem to begin there; graphemes are counted from where one surely begins.
    const first = granularity === 'grapheme' ? low : near
    const stretch = first === near ? seen : text.slice(first, high + 64)
    const starts = new Set(Array.from(segmenters[granularity].segment(stretch), ({ index }) => first + index))
    if (first > low) starts.delete(first)
    return last((at) => starts.has(at) || at === text.length, least)
  }
  if (only === undefined) {
    const sentence = segmented('sentence', 0.5)
    if (sentence !== undefined) return sentence
    const word = last(
      (at) => white.test(text[at - 1] ?? '') && !combining.test(characterAt(text, at)),
      nearlyEmpty,
    )
    if (word !== undefined && !white.test(text[word] ?? '')) return word
    if (word !== undefined) return word
    const isSpaced = white.test(seen)
    const part = isSpaced ? undefined : segmented('word', 0.5)
    if (part !== undefined) return part
  }
  if (!mustCut && fill(low) > 0) return undefined
  return segmented('grapheme', 0)
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 32)
}

/** The first stretch that ends after the position. */
function stretchAt(whole: readonly Stretch[], at: number): number {
  let low = 0
  let high = whole.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((whole[middle]?.end ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}
