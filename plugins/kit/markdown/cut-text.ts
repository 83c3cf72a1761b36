/** Cuts code, and the inlines of a paragraph, after as much of them as fits into a message. */

import { type Inline, readInlines } from './tree.ts'

/** Returns the greatest number up to `max` for which `holds` is true, or 0 if there is none. Tries small numbers first. */
export function largest(max: number, holds: (count: number) => boolean): number {
  let low = 0
  let step = 1
  while (low + step <= max && holds(low + step)) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, max + 1)
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle
    else high = middle
  }
  return low
}

interface TextRoom {
  /** True if nothing else is in the message, which must then hold some of the text. */
  readonly isEmpty: boolean
  /** True if the text up to this position fits into the message. */
  fits(end: number): boolean
}

/** Returns the line end at which code is cut, or a position inside a line that no message can hold; undefined if nothing fits. */
export function cutCode(text: string, room: TextRoom): number | undefined {
  return cutBefore(text.length, room, (end) => {
    const line = text.lastIndexOf('\n', end)
    return line > 0 || !room.isEmpty ? line : insideWord(text, end)
  })
}

/**
 * Returns the position at which a paragraph is cut: the end of a line, if the second half of what fits has one, or else of a word.
 * A link or code is cut only if no message can hold it, and a word only if an empty message cannot. Undefined if nothing fits.
 */
export function cutProse(inlines: readonly Inline[], max: number, room: TextRoom): number | undefined {
  const text = positionsOf(inlines, max)
  const masked = positionsOf(inlines, max, true)
  return cutBefore(text.length, room, (end) => {
    const span = room.isEmpty ? startOfSpan(masked, end) : end
    const seen = span === 0 ? text : masked
    const line = seen.lastIndexOf('\n', end)
    if (line > end / 2) return line
    const space = seen.slice(0, end + 1).search(/\s(?![\p{M}\u200d])\S*$/u)
    if (space > 0 || !room.isEmpty) return space
    return span > 0 && span < end ? span : insideWord(text, end)
  })
}

/** Returns the last position that `breakBefore` finds and that fits. */
function cutBefore(
  length: number,
  { fits }: TextRoom,
  breakBefore: (end: number) => number,
): number | undefined {
  for (let end = largest(length, fits); end > 0; end -= 1) {
    if (end === length) return end
    end = breakBefore(end)
    if (end > 0 && fits(end)) return end
  }
  return undefined
}

const words = new Intl.Segmenter('en', { granularity: 'word' })
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns the last border of a word, a grapheme or a code point up to a position. Words without spaces between them have borders too. */
function insideWord(text: string, end: number): number {
  const word = words.segment(text).containing(end)?.index ?? 0
  if (word > end / 2) return word
  const grapheme = graphemes.segment(text).containing(end)?.index ?? 0
  if (grapheme > 0) return grapheme
  const isInPair = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 1, end + 1))
  return isInPair ? end - 1 : end
}

/** Fills the positions of links and code that stay whole. */
const filler = '\ufffc'

/**
 * Returns the text of a paragraph, of which breaks, images and empty nodes have one UTF-16 unit, up to about `max` of them. Links
 * and code are filled in with signs that are no white space if `isMasked`.
 */
export function positionsOf(
  inlines: readonly Inline[],
  max = Number.POSITIVE_INFINITY,
  isMasked = false,
): string {
  let text = ''
  for (const each of inlines) {
    if (text.length >= max) return text.slice(0, max)
    if (each.type === 'break') text += '\n'
    else if (each.type === 'image') text += filler
    else {
      const isSpan = each.type === 'link' || each.type === 'code'
      const inner = 'text' in each ? each.text : positionsOf(each.children, max, isMasked)
      text += isSpan && isMasked ? filler.repeat(inner.length || 1) : inner || filler
    }
  }
  return text
}

function startOfSpan(masked: string, end: number): number {
  let start = end
  while (start > 0 && masked[start] === filler && masked[start - 1] === filler) start -= 1
  return start
}

/** Returns the inlines between two positions. A mark or a link that is cut is closed and opened again. */
export function sliceInlines(inlines: readonly Inline[], from: number, to: number): Inline[] {
  const sliced: Inline[] = []
  let start = 0
  for (const each of inlines) {
    if (start >= to) break
    const end = start + positionsOf([each]).length
    if (from <= start && end <= to) sliced.push(each)
    else if (end > from && 'text' in each)
      sliced.push({ ...each, text: each.text.slice(Math.max(0, from - start), to - start) })
    else if (end > from && 'children' in each)
      sliced.push({ ...each, children: sliceInlines(each.children, from - start, to - start) })
    start = end
  }
  return sliced
}

/** Writes out the address of the link or image at the beginning, which then can be cut. */
export function spellOut([first, ...others]: readonly Inline[]): readonly Inline[] {
  if (first === undefined) return []
  if ('address' in first) {
    const label = first.type === 'image' ? first.description : readInlines(first.children)
    const text = label === '' || label === first.address ? first.address : `${label} (${first.address})`
    return [{ type: 'text', text }, ...others]
  }
  return 'children' in first
    ? [{ ...first, children: spellOut(first.children) }, ...others]
    : [first, ...others]
}
