/** Cuts a long Markdown text into parts: between blocks, then lines, sentences, words, and graphemes last. */

import type { ChannelLimits } from './channel.ts'
import { measureIn } from './measure.ts'

/** A piece of text and the white space after it, which is dropped if the text is cut there. */
export interface Piece {
  readonly text: string
  readonly gap: string
}

export function lines(text: string): Piece[] {
  return text.split('\n').map((line) => {
    const content = line.trimEnd()
    return { text: content, gap: `${line.slice(content.length)}\n` }
  })
}

export function sentences(text: string): Piece[] {
  return segments(text, 'sentence').map((sentence) => {
    const end = wordEnd(sentence)
    return { text: sentence.slice(0, end), gap: sentence.slice(end) }
  })
}

export function words(text: string): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (const found of text.matchAll(wordGap)) {
    if (found.index === 0) continue
    pieces.push({ text: text.slice(start, found.index), gap: found[0] })
    start = found.index + found[0].length
  }
  pieces.push({ text: text.slice(start), gap: '' })
  return pieces
}

export function graphemes(text: string): Piece[] {
  return segments(text, 'grapheme').map(asPiece)
}

/** Splits a grapheme that has more combining marks than a whole part can hold. */
export function codePoints(text: string): Piece[] {
  return [...text].map(asPiece)
}

/** White space without a combining mark; a space with an accent is one grapheme. */
const wordGap = /\s+(?![\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d])/gu

function wordEnd(text: string): number {
  const end = text.trimEnd().length
  return end === 0 ? text.length : end
}

function segments(text: string, granularity: 'sentence' | 'grapheme'): string[] {
  return Array.from(new Intl.Segmenter('en', { granularity }).segment(text), (each) => each.segment)
}

function asPiece(text: string): Piece {
  return { text, gap: '' }
}

const proseLevels = [lines, sentences, words, graphemes, codePoints]
const codeLevels = [graphemes, codePoints]

/**
 * Splits Markdown into parts of at most `limits.part`, in order; none for blank text. Each part can be read on its own, so
 * that a code fence that runs over a cut is closed and opened again with its language. White space at a cut and on blank
 * lines is dropped, and nothing else. A grapheme is cut only if it alone is longer than a part.
 *
 * `measure` counts as the vendor does. It may overestimate, and two texts together must never measure more than the sum of
 * both. Default: `limits.unit`.
 */
export function splitMarkdown(
  markdown: string,
  limits: Pick<ChannelLimits, 'part' | 'unit'>,
  measure: (text: string) => number = measureIn(limits.unit),
): string[] {
  const text = markdown
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .trimEnd()
    .replace(/^\s*\n/, '')
  if (text === '') return []
  if (measure(text) <= limits.part) return [text]
  const packer = createPacker(limits.part, measure)
  for (const block of parseBlocks(text)) {
    const fence = block.fence && fitFence(block.fence, limits.part, measure)
    if (packer.take(block)) continue
    if (fence === undefined) packer.cut(block, proseLevels)
    else packer.cutCode(block, fence)
  }
  return packer.end()
}

interface Fence {
  readonly open: string
  readonly close: string
}

interface Block extends Piece {
  /** The fence of a code block, with its whole info string. */
  readonly fence?: { readonly indent: string; readonly marker: string; readonly info: string }
}

/** Parses paragraphs with the blank lines that follow them, and fenced code. An open fence runs to the end. */
function parseBlocks(text: string): Block[] {
  const blocks: Block[] = []
  const all = text.split('\n')
  let at = 0
  while (at < all.length) {
    const start = at
    const fence = fenceOf(all[at] ?? '')
    at += 1
    if (fence === undefined) {
      while (at < all.length && !isBlank(all[at]) && fenceOf(all[at] ?? '') === undefined) at += 1
    } else {
      while (at < all.length && !closes(all[at] ?? '', fence.marker)) at += 1
      at += 1
    }
    const end = at
    while (at < all.length && isBlank(all[at])) at += 1
    const gap = at < all.length ? '\n'.repeat(1 + at - end) : ''
    blocks.push({ text: all.slice(start, end).join('\n'), gap, fence })
  }
  return blocks
}

function fenceOf(line: string): Block['fence'] {
  const found = /^(\s*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(line)
  if (found === null) return undefined
  return { indent: found[1] ?? '', marker: found[2] ?? '', info: found[3]?.trim() ?? '' }
}

function closes(line: string, marker: string): boolean {
  const text = line.trim()
  return text.length >= marker.length && text === (marker[0] ?? '').repeat(text.length)
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === ''
}

/** Returns the fence for each piece of the code, or undefined if fences would fill half of a part. */
function fitFence(
  { indent, marker, info }: NonNullable<Block['fence']>,
  limit: number,
  measure: (text: string) => number,
): Fence | undefined {
  const close = indent + marker
  const open = close + info
  return measure(`${open}\n\n${close}`) <= limit / 2 ? { open, close } : undefined
}

type Levels = readonly ((text: string) => Piece[])[]

/** Creates a packer that fills one part after the other. `size` never underestimates the part that is being filled. */
function createPacker(limit: number, measure: (text: string) => number) {
  const parts: string[] = []
  let current = ''
  let gap = ''
  let size = 0
  let fence: Fence | undefined
  let fenceIsOpen = false

  function flush() {
    if (current !== '')
      parts.push(fenceIsOpen && fence !== undefined ? `${current}\n${fence.close}` : current)
    current = ''
    gap = ''
    size = 0
    fenceIsOpen = false
  }

  /** Adds a piece if it fits whole into the current part, or else into an empty one. */
  function take(piece: Piece): boolean {
    if (piece.text === '' && current === '' && fence === undefined) return true
    const closing = fence === undefined ? 0 : measure(`\n${fence.close}`)
    const opening = fence === undefined ? '' : `${fence.open}\n`
    const joint = gap + (fenceIsOpen ? '' : opening)
    let cost = measure(joint) + measure(piece.text)
    if (size + cost + closing > limit) {
      cost = measure(opening) + measure(piece.text)
      if (cost + closing > limit) return false
      flush()
      current = opening + piece.text
      size = cost
    } else {
      current += joint + piece.text
      size += cost
    }
    gap = piece.gap
    fenceIsOpen = fence !== undefined
    return true
  }

  function cut(piece: Piece, [level, ...finer]: Levels) {
    const pieces = level?.(piece.text) ?? []
    for (const [index, each] of pieces.entries()) {
      const last = index === pieces.length - 1
      const whole = last ? { text: each.text, gap: piece.gap } : each
      if (take(whole)) continue
      if (finer.length === 0) throw new RangeError(`A limit of ${limit} holds not one character.`)
      cut(whole, finer)
    }
  }

  function cutCode(block: Block, around: Fence) {
    const body = block.text.split('\n').slice(1)
    if (closes(body.at(-1) ?? '', block.fence?.marker ?? '')) body.pop()
    fence = around
    for (const line of body) {
      const piece = { text: line, gap: '\n' }
      if (!take(piece)) cut(piece, codeLevels)
    }
    if (fenceIsOpen) {
      current += `\n${around.close}`
      size += measure(`\n${around.close}`)
    }
    fence = undefined
    fenceIsOpen = false
    gap = block.gap
  }

  function end(): string[] {
    flush()
    return parts
  }

  return { take, cut, cutCode, end }
}
