/** Owns the day that costs are counted by: UTC, so that it is the same for everybody who shares a store. */

export const dayMs = 86_400_000

/** The day (UTC) of a time in milliseconds since the Unix epoch: `2026-01-31`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
