/** Cuts a text that is too long after a line, a word or a grapheme, whichever is near. */

export interface Cut {
  readonly text: string
  readonly isCut: boolean
}

/** Cuts a text to this many bytes of UTF-8. */
export function cutToBytes(text: string, bytes: number): Cut {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return { text, isCut: false }
  // The encoder stops before a character that has no room, and reports how far it came.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return { text: beginning(text, read), isCut: true }
}

/** Cuts a text to this many UTF-16 units. */
export function cutToLength(text: string, length: number): string {
  return text.length <= length ? text : beginning(text, length)
}

function beginning(text: string, end: number): string {
  return text.slice(0, niceEnd(text, end)).trimEnd()
}

/** UTF-16 units before the end that are searched for a good place to cut. At most a tenth of the text is lost to it. */
const lineReach = 400
const wordReach = 80
const graphemeReach = 64

function niceEnd(text: string, end: number): number {
  if (isSpace(text, end)) return end
  const line = text.lastIndexOf('\n', end)
  if (line >= 0 && line >= end - Math.min(lineReach, end / 10)) return line
  for (let at = end - 1; at >= end - Math.min(wordReach, end / 10); at--) if (isSpace(text, at)) return at
  return graphemeEnd(text, end)
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at))
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function graphemeEnd(text: string, end: number): number {
  const start = Math.max(0, end - graphemeReach)
  const around = graphemes.segment(text.slice(start, end + graphemeReach)).containing(end - start)
  // A single grapheme may be longer than the limit; then it is cut between its characters.
  if (around !== undefined && around.index > 0) return start + around.index
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end
}
