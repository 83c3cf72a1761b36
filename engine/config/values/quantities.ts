/** Parses what is written with a unit: durations such as `30m`, sizes such as `1GiB`, and rates such as `600/1m`. */

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 }

/** The pattern of durations for schemas. Zero is not allowed, because a timer without a delay would never pause. */
export const durationPattern = '^[1-9][0-9]{0,8}(ms|s|m|h|d)$'
/** The pattern of sizes for schemas. */
export const byteSizePattern = '^(0|[1-9][0-9]{0,6})(B|KiB|MiB|GiB|TiB)$'
/** The pattern of rates for schemas. */
export const ratePattern = '^[1-9][0-9]{0,8}/[1-9][0-9]{0,8}(s|m|h|d)$'

/** Returns milliseconds. @throws RangeError if the string is not a duration */
export function parseDuration(text: string): number {
  return parseQuantity(text, durationPattern, unitMs)
}

/** Returns bytes. @throws RangeError if the string is not a size */
export function parseByteSize(text: string): number {
  return Math.min(parseQuantity(text, byteSizePattern, unitBytes), Number.MAX_SAFE_INTEGER)
}

function parseQuantity(text: string, pattern: string, units: Readonly<Record<string, number>>): number {
  const [, unit = ''] = (new RegExp(pattern).test(text) && /^\d+(\D+)$/.exec(text)) || []
  const size = units[unit]
  if (size === undefined)
    throw new RangeError(`It must be a whole number and one of ${Object.keys(units).join(', ')}`)
  return Number.parseInt(text, 10) * size
}

/** A number of requests in a period. */
export interface Rate {
  readonly max: number
  readonly windowMs: number
}

/** @throws RangeError if the string is not a rate */
export function parseRate(text: string): Rate {
  const [max = '', window = ''] = text.split('/')
  return { max: Number(max), windowMs: parseDuration(window) }
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
