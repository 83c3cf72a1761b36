/** Shortens text to a length, between characters as readers see them. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Long enough for every real character; a longer one is hostile and is cut inside. UTF-16 units. */
const maxGraphemeLength = 64

/** Returns at most `limit` UTF-16 units of the text, cut between graphemes. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const around = graphemes.segment(text.slice(0, limit + maxGraphemeLength)).containing(limit)
  const border = around?.index ?? 0
  if (limit - border < maxGraphemeLength) return text.slice(0, border)
  return text.slice(0, isLowSurrogate(text, limit) ? limit - 1 : limit)
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff
}
