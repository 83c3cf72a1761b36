/**
 * Takes samples of variants that are to be compared. The variants take turns, in another order in each round, so that a noisy minute
 * affects all of them.
 */

/** Names of variants. */
export const reveille = 'Reveille'
export const baseName = 'base'
export const echo = 'Fastify echo'
export const openClawName = 'OpenClaw'

/** Figures by name. */
export type Sample = Readonly<Record<string, number>>

/** Variants that are measured and compared. */
export interface Comparison {
  readonly name: string
  /** The first one is what the others are compared with. */
  readonly variants: readonly string[]
  /** The figure that is compared. */
  readonly compared: string
  /** Samples of each variant; absent: as many as there are rounds. */
  readonly rounds?: number
  /** Approximate seconds of opening, and of a sample. */
  readonly openSeconds: number
  readonly sampleSeconds: number
  open(): Promise<Bed>
}

/** An opened comparison. */
export interface Bed {
  take(variant: string): Promise<Sample>
  close(): Promise<void>
}

/** A comparison with its samples. */
export interface Measure {
  readonly name: string
  readonly compared: string
  readonly variants: readonly Variant[]
}

export interface Variant {
  readonly name: string
  readonly samples: readonly Sample[]
}

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** Tells each sample, with its place among all of them. */
export type Progress = (taken: {
  readonly number: number
  readonly total: number
  readonly comparison: string
  readonly variant: string
  readonly sample: Sample
}) => void

export async function measureAll(
  comparisons: readonly Comparison[],
  rounds: number,
  progress: Progress,
): Promise<readonly Measure[]> {
  const total = sampleCount(comparisons, rounds)
  const measures: Measure[] = []
  let number = 0
  for (const comparison of comparisons) {
    const variants = comparison.variants.map((name) => ({ name, samples: [] as Sample[] }))
    const bed = await comparison.open()
    try {
      for (let round = 0; round < (comparison.rounds ?? rounds); round++) {
        for (const shift of variants.keys()) {
          const variant = variants[(round + shift) % variants.length] as (typeof variants)[number]
          const sample = await bed.take(variant.name)
          variant.samples.push(sample)
          number += 1
          progress({ number, total, comparison: comparison.name, variant: variant.name, sample })
        }
      }
    } finally {
      await bed.close()
    }
    measures.push({ name: comparison.name, compared: comparison.compared, variants })
  }
  return measures
}

export function sampleCount(comparisons: readonly Comparison[], rounds: number): number {
  return sum(comparisons.map((comparison) => comparison.variants.length * (comparison.rounds ?? rounds)))
}

export function expectedSeconds(comparisons: readonly Comparison[], rounds: number): number {
  return sum(
    comparisons.map(
      (comparison) =>
        comparison.openSeconds +
        comparison.variants.length * (comparison.rounds ?? rounds) * comparison.sampleSeconds,
    ),
  )
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), least: Math.min(...values), most: Math.max(...values) }
}

/** Compares samples of one round with each other, so that only noise within a round counts. */
export function ratios(variant: Variant, reference: Variant, figure: string): readonly number[] {
  return variant.samples.map(
    (sample, round) => (sample[figure] ?? Number.NaN) / (reference.samples[round]?.[figure] ?? Number.NaN),
  )
}

/** Returns the value below which `share` of the values are; between two values their mean. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
