/** Parses durations: the texts `250ms`, `10s`, `30m`, `24h`, `7d` and their milliseconds. */

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** What a duration looks like, for schemas. Zero is none: a timer of nothing would never rest. */
export const durationPattern = '^[1-9][0-9]{0,8}(ms|s|m|h|d)$'

/** Milliseconds. @throws RangeError when the text is no duration. */
export function parseDuration(text: string): number {
  const found = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(text)
  if (!found) throw new RangeError('A duration is a whole number and ms, s, m, h or d')
  return Number(found[1]) * unitMs[found[2] as keyof typeof unitMs]
}

/** The longest duration of one unit that is no longer than this, in the largest unit of which there are at least two. */
export function inLargestUnit(ms: number): string {
  const units = Object.entries(unitMs).toReversed()
  const [unit, each] = units.find(([, one]) => ms >= 2 * one) ?? ['ms', 1]
  return `${Math.floor(ms / each)}${unit}`
}
