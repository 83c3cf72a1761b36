/** The day by which costs are counted: UTC, so that it is the same for all processes that share a store. */

export const dayMs = 86_400_000

/** The day that was asked for last: each run asks several times, and the day is nearly always the same. */
let last = { number: Number.NaN, day: '' }

/** Returns the day (UTC) of a time in milliseconds since the Unix epoch: `2026-01-31`. */
export function dayOf(time: number): string {
  const number = Math.floor(time / dayMs)
  if (number !== last.number) last = { number, day: new Date(time).toISOString().slice(0, 10) }
  return last.day
}
