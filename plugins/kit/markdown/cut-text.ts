/** Owns where a person would cut a text: after a line, a sentence, a word, a grapheme. */

/** A link, a code span or the like: a cut may be at either end of it. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface TextRoom {
  /** The cut is after `low`, and at `high` at the latest. */
  readonly low: number
  readonly high: number
  /** How full a message is that ends at this position: 1 at `high`. */
  fill(at: number): number
  /** Whether the message begins with this text, so that it would be empty without a cut in it. */
  readonly isFirst: boolean
}

/** A message that has less than this of what would fit is nearly empty. */
export const nearlyEmpty = 0.25
/** A line or a sentence less than this far on is not worth waiting for: a word will do. */
const half = 0.5

const segmenters = {
  sentence: new Intl.Segmenter('en', { granularity: 'sentence' }),
  word: new Intl.Segmenter('en', { granularity: 'word' }),
  grapheme: new Intl.Segmenter('en', { granularity: 'grapheme' }),
}
/** How far before the end of the room sentences are looked for, and how far after it a text is read to tell them. */
const lookBehind = 4096
const lookAhead = 64
const white = /\s/
const combining = /[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200d]/u

/** Undefined where only what should not be cut lies in the room. White space at a cut goes with the text before it. */
export function cutProse(text: string, whole: readonly Stretch[], room: TextRoom): number | undefined {
  const { low, high, fill, isFirst } = room

  function isFree(at: number): boolean {
    const stretch = whole[stretchAt(whole, at)]
    if (stretch === undefined || at <= stretch.start) return true
    // What the message begins with and does not hold has to be cut, be it what it may.
    return isFirst && stretch.start <= low && stretch.end > high
  }

  /** The last place of its kind; `accepts` is asked about the position after the white space that may be there. */
  function last(accepts: (at: number) => boolean, least: number): number | undefined {
    for (let at = high; at > low && fill(at) >= least; at -= 1) {
      const next = pastWhite(text, at)
      if (accepts(next) && isFree(next)) return next
    }
    return undefined
  }

  function startsOf(granularity: keyof typeof segmenters): (at: number) => boolean {
    // Graphemes are told apart from where one surely begins; whatever stands where looking begins would seem to begin there.
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

/** After a line; within one that no message holds after a grapheme. */
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

/** The first stretch that ends after the position. */
function stretchAt(whole: readonly Stretch[], at: number): number {
  let low = 0
  let high = whole.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((whole[middle]?.end ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}
