/** Finds the characters of a text that are not shown as they are, but as marks. */

/**
 * Control and format characters, line and paragraph separators, lone surrogates, and letters that are blank. White space of ordinary
 * text stays, and so do the joiners and selectors inside of emoji and of words, which are handled below.
 */
const special =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5|[\u{e0100}-\u{e01ef}]/gu

/** What a special character is; the first that fits. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['control character', /\p{Cc}/u],
  ['changes the reading order', /\p{Bidi_Control}/u],
  ['half of a character', /\p{Cs}/u],
]

/** A piece of a text: itself, or the mark of one character that is not shown as it is. */
export interface Piece {
  readonly text: string
  /** The meaning of the mark. */
  readonly title?: string
}

/** Cuts a text into pieces. `isLine`: line breaks are marks too. */
export function piecesOf(text: string, { isLine = false } = {}): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(special)) {
    if (isOrdinary(character, text, index, isLine)) continue
    if (index > from) pieces.push({ text: text.slice(from, index) })
    pieces.push(markOf(character))
    from = index + character.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}

function isOrdinary(character: string, text: string, index: number, isLine: boolean): boolean {
  if (character === '\n') return !isLine
  if (character === '\r') return !isLine && text[index + 1] === '\n'
  if (character === '\t') return true
  // A joiner between two emoji makes one of them.
  return (
    character === '\u200d' &&
    /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*$/u.test(
      text.slice(Math.max(0, index - 5), index),
    ) &&
    /^\p{Extended_Pictographic}/u.test(text.slice(index + 1, index + 3))
  )
}

function markOf(character: string): Piece {
  const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  const [kind] = kinds.find(([, pattern]) => pattern.test(character)) ?? ['invisible character']
  return { text: `U+${number}`, title: kind }
}
