/** Measures texts in columns of monospaced characters. */

const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u
const unseen = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
/** Latin, Greek and Cyrillic letters and the usual signs: a grapheme is one unit, and one column. */
const narrow =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203a\u2190-\u2199]*$/

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns what readers take for single characters. */
export function graphemesOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/** Returns the columns of a text: two for East Asian characters and emoji, and none for invisible characters. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const each of graphemesOf(text)) width += unseen.test(each) ? 0 : wide.test(each) ? 2 : 1
  return width
}
