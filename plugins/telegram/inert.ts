/** Owns what Telegram would make of plain words by itself, and must not: names that are called, and links into Telegram. */

/**
 * Stands where Telegram then sees no name and no scheme any more, and people see nothing: U+2060 is neither a letter nor
 * white space, which is what ends both for its entity detection.
 */
const joiner = '\u2060'

/**
 * `@name` where nothing of a word comes before it: elsewhere, as in an e-mail address, Telegram sees no name either. At the
 * end of a text the name may follow in bold.
 */
const mention = /(?<![\p{L}\p{N}_])@(?=[\p{L}\p{N}_]|$)/gu
/**
 * Schemes that Telegram links by itself and that act inside of it; `tg://user?id=…` calls a person. Any part of one may
 * stand in a text of its own, in bold beside the others.
 */
const scheme = /(?:\b(?:tg|ton|tonsite)|^(?:g|(?:o?n)?(?:site)?|ite|te|e)?):(?=\/\/|\/?$)|^(?=\/\/)/gi

/**
 * Telegram takes these out of every text before it looks for names (TDLib, `clean_input_string`); a ring too, which some
 * letters have in one character with it.
 */
const removed = /[\u2028-\u202e]|\u0333|\u033f|\u030a/g
const ringed = /[auwy]\u030a/gi

/** The same words, of which none calls anybody. What is inert already stays as it is. */
export function makeInert(text: string): string {
  const left = text.replaceAll(ringed, (each) => each.normalize('NFC')).replaceAll(removed, '')
  return left.replaceAll(mention, `@${joiner}`).replaceAll(scheme, `$&${joiner}`)
}
