/** Finds the characters of a text that are not shown as they are, but as marks. */

/**
 * Control and format characters, line and paragraph separators, lone surrogates, and letters that are blank. White space of ordinary
 * text stays, and so do the joiners and selectors inside of emoji and of words, which are handled below.
 */
const special =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5|[\u{e0100}-\u{e01ef}]/gu

const names: Readonly<Record<string, string>> = {
  '\u00ad': 'soft hyphen',
  '\u061c': 'Arabic letter mark',
  '\u200b': 'zero width space',
  '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u2028': 'line separator',
  '\u2029': 'paragraph separator',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'pop directional formatting',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2060': 'word joiner',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'pop directional isolate',
  '\ufeff': 'byte order mark',
}

/** The names that people know control characters by; fonts seldom have their pictures. */
const controls =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  )

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
  const code = character.codePointAt(0) ?? 0
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const control = code === 0x7f ? 'DEL' : controls[code]
  if (control !== undefined) return { text: control, title: `control character ${number}` }
  const name =
    names[character] ?? (code >= 0xd800 && code <= 0xdfff ? 'half of a character' : 'invisible character')
  return { text: number, title: `${name} ${number}` }
}
