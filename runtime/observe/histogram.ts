/** Counts durations in buckets. The bounds are fine enough that a quantile is right to about a quarter of its value. */

/** Upper bounds in milliseconds. Longer durations are in one more bucket. */
export const boundsMs = [
  0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 50, 75, 100, 150, 250, 500, 1000, 2500, 5000, 10_000,
  30_000,
] as const

export function createHistogram() {
  const counts = new Float64Array(boundsMs.length + 1)
  let sumMs = 0
  let count = 0

  return {
    /** This is called for every request, so it makes no garbage: a typed array and a short loop, as most durations are short. */
    observe(ms: number): void {
      let index = 0
      while (index < boundsMs.length && ms > (boundsMs[index] as number)) index += 1
      counts[index] = (counts[index] as number) + 1
      sumMs += ms
      count += 1
    },
    reset(): void {
      counts.fill(0)
      sumMs = 0
      count = 0
    },
    /** The counts of the buckets, not cumulative. */
    read: () => ({ counts: [...counts], sumMs, count }),
    /** The duration below which a share of all durations is, in milliseconds; undefined if there were none. */
    quantile(share: number): number | undefined {
      if (count === 0) return undefined
      let left = share * count
      for (const [index, upper] of boundsMs.entries()) {
        const inBucket = counts[index] as number
        const lower = index === 0 ? 0 : (boundsMs[index - 1] as number)
        if (inBucket > 0 && left <= inBucket) return lower + ((upper - lower) * left) / inBucket
        left -= inBucket
      }
      return boundsMs.at(-1)
    },
  }
}
