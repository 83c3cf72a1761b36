/** Owns the times that a command or a request file names. */

/** Above this a number counts milliseconds: as seconds it would be the year 5138. */
const mostSeconds = 100_000_000_000

/** ISO 8601, Unix seconds or milliseconds. @returns milliseconds since the Unix epoch; undefined for no time */
export function timeOf(given: unknown): number | undefined {
  if (typeof given === 'string' && !/^\d{1,15}(?:\.\d{1,9})?$/.test(given)) {
    const time = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : Number.NaN
    return Number.isNaN(time) ? undefined : time
  }
  const number = typeof given === 'string' ? Number(given) : given
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0 || number > 8.64e15)
    return undefined
  return Math.round(number < mostSeconds ? number * 1000 : number)
}
