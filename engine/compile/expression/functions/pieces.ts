/** Owns gathering the pieces of a text that is made bit by bit, and no more of it than an expression may make. */

import { mostText, tooMuchText } from '../limit.ts'

/** Pieces that are joined at once. */
const batch = 512

export function createPieces(): { add(piece: string): void; text(): string } {
  const parts: string[] = []
  let pieces: string[] = []
  let length = 0
  return {
    add(piece) {
      length += piece.length
      if (length > mostText) throw tooMuchText()
      pieces.push(piece)
      if (pieces.length < batch) return
      parts.push(pieces.join(''))
      pieces = []
    },
    text: () => parts.join('') + pieces.join(''),
  }
}
