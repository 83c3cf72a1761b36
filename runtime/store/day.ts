/** The day by which costs are counted: UTC, so that it is the same for all processes that share a store. */

export const dayMs = 86_400_000

/** Returns the day (UTC) of a time in milliseconds since the Unix epoch: `2026-01-31`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
