/** Owns which of a mapping's equalities tells it apart best from the others of its group. */

import type { Equality, Matcher } from '../../resolve/program.ts'
import { smallPieces, type Work } from '../slices.ts'
import type { Scalar } from './scalar.ts'

type Choice = (equalities: readonly Equality[]) => Equality | undefined

/** Chooses the equality whose fullest bucket holds the fewest mappings of the group; a header before a field. */
export function* createChoice(matchers: readonly Matcher[]): Work<Choice> {
  const counts = new Map<string, Map<Scalar, number>>()
  for (const [index, { equalities }] of matchers.entries()) {
    for (const equality of equalities) count(equality, counts)
    if (index % smallPieces === 0) yield
  }
  return (equalities) => {
    if (equalities.length < 2) return equalities[0]
    let best: { readonly equality: Equality; readonly size: number } | undefined
    for (const equality of equalities) {
      const size = fullest(equality, counts)
      if (best === undefined || size < best.size || (size === best.size && isBetter(equality, best.equality)))
        best = { equality, size }
    }
    return best?.equality
  }
}

type Counts = Map<string, Map<Scalar, number>>

function count(equality: Equality, counts: Counts): void {
  const place = placeOf(equality)
  let ofPlace = counts.get(place)
  if (ofPlace === undefined) {
    ofPlace = new Map()
    counts.set(place, ofPlace)
  }
  for (const value of equality.values) ofPlace.set(value, (ofPlace.get(value) ?? 0) + 1)
}

function fullest(equality: Equality, counts: Counts): number {
  const ofPlace = counts.get(placeOf(equality))
  let most = 0
  for (const value of equality.values) most = Math.max(most, ofPlace?.get(value) ?? 0)
  return most
}

function isBetter(equality: Equality, than: Equality): boolean {
  return equality.of === 'header' && than.of !== 'header'
}

/** Two places of one name would only be a worse choice. */
function placeOf({ of, path }: Equality): string {
  return `${of} ${path.length === 1 ? path[0] : path.join('\n')}`
}
