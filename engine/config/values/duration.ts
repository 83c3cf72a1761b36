/** Parses durations: the strings `250ms`, `10s`, `30m`, `24h`, `7d` and their milliseconds. */

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The pattern of durations for schemas. Zero is not allowed, because a timer without a delay would never pause. */
export const durationPattern = '^[1-9][0-9]{0,8}(ms|s|m|h|d)$'

/** Returns milliseconds. @throws RangeError if the string is not a duration */
export function parseDuration(text: string): number {
  const found = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(text)
  if (!found) throw new RangeError('A duration is a whole number and ms, s, m, h or d')
  return Number(found[1]) * unitMs[found[2] as keyof typeof unitMs]
}

/**
 * Returns the longest duration in whole units that does not exceed this one, in the largest unit that gives at least
 * two.
 */
export function inLargestUnit(ms: number): string {
  const units = Object.entries(unitMs).toReversed()
  const [unit, each] = units.find(([, one]) => ms >= 2 * one) ?? ['ms', 1]
  return `${Math.floor(ms / each)}${unit}`
}
