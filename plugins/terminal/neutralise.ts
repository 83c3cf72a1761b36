/** Owns what of a text may reach a terminal: whoever wrote it must not move the cursor, set a title or hide a word. */

/**
 * Line breaks and tabs stay. Every other control character is replaced by its picture, so that an escape sequence is seen
 * and not obeyed; characters that turn the reading order are replaced by U+FFFD.
 */
export function neutralise(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replaceAll(controls, picture)
    .replaceAll(directions, '\ufffd')
}

/** C0 without line feed and tab, DEL, and C1, which some terminals obey like ESC and a letter. */
const controls = /(?![\n\t])\p{Cc}/gu
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}
