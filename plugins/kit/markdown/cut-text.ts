/** Chooses where to cut a text: after a line, a sentence, a word or a grapheme. */

/** A link, a code span or the like, which may be cut at either end but not inside. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface TextRoom {
  /** The cut is after `low` and at `high` at the latest. */
  readonly low: number
  readonly high: number
  /** Returns how full a message is that ends at this position, which is 1 at `high`. */
  fill(at: number): number
  /** True if the message begins with this text and so would be empty without a cut in it. */
  readonly isFirst: boolean
}

/** Fraction of a message up to which it counts as nearly empty. */
export const nearlyEmpty = 0.25
/** Minimum fraction of a message before it may end with a line or a sentence rather than with a word. */
const half = 0.5

const segmenters = {
  sentence: new Intl.Segmenter('en', { granularity: 'sentence' }),
  word: new Intl.Segmenter('en', { granularity: 'word' }),
  grapheme: new Intl.Segmenter('en', { granularity: 'grapheme' }),
}
/** Characters before the end of the room that are searched for sentences, and characters after it that are read to recognise them. */
const lookBehind = 4096
const lookAhead = 64
const white = /\s/
const combining = /[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d]/u

/** Returns the cut, or undefined if the room holds only spans. White space at a cut stays with the text before it. */
export function cutProse(text: string, spans: readonly Span[], room: TextRoom): number | undefined {
  const { low, high, fill, isFirst } = room

  function isFree(at: number): boolean {
    const span = spans[spanAt(spans, at)]
    if (span === undefined || at <= span.start) return true
    // A span that begins the message and does not fit into it has to be cut.
    return isFirst && span.start <= low && span.end > high
  }

  /** Returns the last position that `accepts`, which is called with the position after any white space. */
  function last(accepts: (at: number) => boolean, min: number): number | undefined {
    for (let at = high; at > low && fill(at) >= min; at -= 1) {
      const next = pastWhite(text, at)
      if (accepts(next) && isFree(next)) return next
    }
    return undefined
  }

  function startsOf(granularity: keyof typeof segmenters): (at: number) => boolean {
    // Graphemes are counted from a position where one certainly begins, as any text would seem to begin at the first position.
    const first = granularity === 'grapheme' ? low : Math.max(low, high - lookBehind)
    const segments = segmenters[granularity].segment(text.slice(first, high + lookAhead))
    const starts = new Set(Array.from(segments, ({ index }) => first + index))
    if (first > low) starts.delete(first)
    return (at) => starts.has(at) || at === text.length
  }

  const line = last((at) => text[at - 1] === '\n' || /\n\s*$/.test(text.slice(at - 8, at)), half)
  if (line !== undefined) return line
  const sentence = last(startsOf('sentence'), half)
  if (sentence !== undefined) return sentence
  const isWordStart = (at: number) => white.test(text[at - 1] ?? '') && !combining.test(characterAt(text, at))
  const word = last((at) => at === text.length || isWordStart(at), nearlyEmpty)
  if (word !== undefined) return word
  if (!white.test(text.slice(Math.max(low, high - lookBehind), high))) {
    const part = last(startsOf('word'), half)
    if (part !== undefined) return part
  }
  return isFirst ? last(startsOf('grapheme'), 0) : undefined
}

/** Cuts code after a line, or after a grapheme inside a line that no message can hold. */
export function cutCode(text: string, { low, high, fill, isFirst }: TextRoom): number | undefined {
  const lineEnd = text.lastIndexOf('\n', high)
  if (lineEnd >= low && fill(lineEnd + 1) >= nearlyEmpty) return lineEnd + 1
  if (!isFirst) return lineEnd >= low ? lineEnd + 1 : undefined
  const starts = new Set(
    Array.from(segmenters.grapheme.segment(text.slice(low, high + lookAhead)), ({ index }) => low + index),
  )
  for (let at = high; at > low; at -= 1) if (starts.has(at) || at === text.length) return at
  return undefined
}

function pastWhite(text: string, at: number): number {
  let end = at
  while (end < at + lookAhead && white.test(text[end] ?? '.')) end += 1
  return end
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 32)
}

/** Returns the index of the first span that ends after the position. */
function spanAt(spans: readonly Span[], at: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.end ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}
