/** Cuts a long Markdown text into parts: between blocks, then lines, sentences, words, and graphemes last. */

import type { ChannelLimits } from './channel.ts'
import { lengthIn } from './measure.ts'

/** A piece of text and the white space after it, which is dropped if the text is cut there. */
export interface Piece {
  readonly text: string
  readonly gap: string
}

/** Cuts between matches of the pattern. A match at the beginning stays with the text after it. */
function between(text: string, gaps: RegExp): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (const found of text.matchAll(gaps)) {
    if (found.index === 0) continue
    pieces.push({ text: text.slice(start, found.index), gap: found[0] })
    start = found.index + found[0].length
  }
  pieces.push({ text: text.slice(start), gap: '' })
  return pieces
}

/** The lookbehind keeps a long run of white space from being read again from each of its characters. */
const lineEnd = /(?<![^\S\n])[^\S\n]*\n/g
/** White space without a combining mark; a space with an accent is one grapheme. */
const wordGap = /\s+(?![\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d])/gu

function segments(text: string, granularity: 'sentence' | 'grapheme'): Piece[] {
  return Array.from(new Intl.Segmenter('en', { granularity }).segment(text), ({ segment }) => {
    const end = segment.trimEnd().length || segment.length
    return { text: segment.slice(0, end), gap: segment.slice(end) }
  })
}

export function graphemes(text: string): Piece[] {
  return segments(text, 'grapheme')
}

/** Splits a grapheme that has more combining marks than a whole part can hold. */
export function codePoints(text: string): Piece[] {
  return [...text].map((character) => ({ text: character, gap: '' }))
}

type Level = (text: string) => Piece[]

const codeLevels: readonly Level[] = [graphemes, codePoints]
const proseLevels: readonly Level[] = [
  (text) => between(text, lineEnd),
  (text) => segments(text, 'sentence'),
  (text) => between(text, wordGap),
  ...codeLevels,
]

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
  measure: (text: string) => number = lengthIn(limits.unit),
): string[] {
  const text = markdown
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .trimEnd()
    .replace(/^\s*\n/, '')
  if (text === '') return []
  if (measure(text) <= limits.part) return [text]
  const fits = (piece: FencedPiece) => measure(begin(piece) + piece.text + end(piece)) <= limits.part

  /** Cuts a piece that fits no part, as coarsely as possible. */
  function cut(piece: FencedPiece, levels: readonly Level[]): FencedPiece[] {
    if (fits(piece)) return [piece]
    const [level, ...finer] = levels
    if (level === undefined) throw new RangeError(`A limit of ${limits.part} holds not one character.`)
    const { fence } = piece
    return withLastGap(level(piece.text), piece.gap).flatMap((each) => cut({ ...each, fence }, finer))
  }

  const pieces = parseBlocks(text).flatMap((block) => {
    if (fits({ text: block.text, gap: '' })) return [{ text: block.text, gap: block.gap }]
    const fence = block.fence && fitFence(block.fence, limits.part, measure)
    if (fence === undefined) return cut({ text: block.text, gap: block.gap }, proseLevels)
    const code = codeOf(block).map((line) => ({ text: line, gap: '\n' }))
    return withLastGap(code, block.gap).flatMap((line) => cut({ ...line, fence }, codeLevels))
  })
  return pack(pieces, limits.part, measure)
}

interface Fence {
  readonly open: string
  readonly close: string
}

/** A piece of prose, or of the code between fences that are closed and opened again at each cut. */
interface FencedPiece extends Piece {
  readonly fence?: Fence
}

function begin({ fence }: FencedPiece): string {
  return fence === undefined ? '' : `${fence.open}\n`
}

function end({ fence }: FencedPiece): string {
  return fence === undefined ? '' : `\n${fence.close}`
}

function withLastGap(pieces: readonly Piece[], gap: string): Piece[] {
  return pieces.map((piece, index) => (index === pieces.length - 1 ? { ...piece, gap } : piece))
}

/** Fills one part after the other. `size` never underestimates the part that is being filled. */
function pack(pieces: readonly FencedPiece[], limit: number, measure: (text: string) => number): string[] {
  const parts: string[] = []
  let current = ''
  let size = 0
  let last: FencedPiece = { text: '', gap: '' }
  for (const piece of pieces) {
    const { text, fence } = piece
    if (current === '' && text === '' && fence === undefined) continue
    const isSame = fence === last.fence
    const more = (isSame ? last.gap : end(last) + last.gap + begin(piece)) + text
    if (current !== '' && size + measure(more) + measure(end(piece)) <= limit) {
      current += more
      size += measure(more)
    } else {
      if (current !== '') parts.push(current + end(last))
      current = begin(piece) + text
      size = measure(current)
    }
    last = piece
  }
  return current === '' ? parts : [...parts, current + end(last)]
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

/** Returns the lines of a block between its fences. */
function codeOf({ text, fence }: Block): string[] {
  const lines = text.split('\n').slice(1)
  return closes(lines.at(-1) ?? '', fence?.marker ?? '') ? lines.slice(0, -1) : lines
}
