/** Owns where a text may be cut, one function for each grain. No cut falls inside a grapheme, save the last one's. */

/** A stretch of text and the white space after it, which goes when a cut falls there. */
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

/** For text that no person wrote: one grapheme with more marks than a whole part can hold. */
export function codePoints(text: string): Piece[] {
  return [...text].map(asPiece)
}

/** White space that no mark sits on: a space with an accent is one grapheme. */
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
