/**
 * Takes samples of variants that are to be compared. The variants take turns, in another order in each round, so that a noisy minute
 * affects all of them.
 */

/** Names of variants. */
export const reveille = 'Reveille'
export const baseName = 'base'

/** Thrown where the message alone says what to do. */
export class BenchError extends Error {
  override readonly name = 'BenchError'
}

/** Figures by name. */
export type Sample = Readonly<Record<string, number>>

/** Variants that are measured and compared. */
export interface Comparison {
  readonly name: string
  /** The figure that is compared. */
  readonly compared: string
  /** Samples of each variant; absent: as many as there are rounds. */
  readonly rounds?: number
  /** The first one is what the others are compared with. */
  readonly variants: readonly Variant[]
}

export interface Variant {
  readonly name: string
  /** Opens it beside the other variants of its comparison. */
  open(): Promise<Opened>
}

export interface Opened {
  take(): Promise<Sample>
  close?(): Promise<void>
}

/** A comparison with its samples. */
export interface Measure {
  readonly name: string
  readonly compared: string
  readonly variants: readonly Measured[]
}

export interface Measured {
  readonly name: string
  readonly samples: readonly Sample[]
}

/** Reports each sample, with its number among all of them. */
export type Progress = (number: string, comparison: string, variant: string, sample: Sample) => void

export async function measureAll(
  comparisons: readonly Comparison[],
  rounds: number,
  progress: Progress,
): Promise<readonly Measure[]> {
  const roundsOf = (comparison: Comparison) => comparison.rounds ?? rounds
  const total = comparisons.reduce((sum, each) => sum + each.variants.length * roundsOf(each), 0)
  const measures: Measure[] = []
  let number = 0
  for (const comparison of comparisons) {
    const opened: (Opened & { readonly name: string; readonly samples: Sample[] })[] = []
    try {
      for (const { name, open } of comparison.variants) opened.push({ name, samples: [], ...(await open()) })
      for (let round = 0; round < roundsOf(comparison); round++) {
        for (const shift of opened.keys()) {
          const variant = opened[(round + shift) % opened.length] as (typeof opened)[number]
          const sample = await variant.take()
          variant.samples.push(sample)
          number += 1
          progress(`${number}/${total}`, comparison.name, variant.name, sample)
        }
      }
    } finally {
      for (const variant of opened) await variant.close?.()
    }
    const variants = opened.map(({ name, samples }) => ({ name, samples }))
    measures.push({ name: comparison.name, compared: comparison.compared, variants })
  }
  return measures
}

/** Compares samples of one round with each other, so that only noise within a round counts. */
export function ratios(variant: Measured, reference: Measured, figure: string): readonly number[] {
  return variant.samples.map(
    (sample, round) => (sample[figure] ?? Number.NaN) / (reference.samples[round]?.[figure] ?? Number.NaN),
  )
}

/** Returns the value below which `share` of the values are; between two values their mean. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}
