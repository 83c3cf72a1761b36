/** Owns the mappings of one path: each filed under the equality that tells it apart best from the others. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Equality, Steps } from '../../resolve/program.ts'
import { addTo, type Bucket, createFieldIndex, type FieldIndex } from './field-index.ts'
import type { Scalar } from './scalar.ts'
import { StepLimitError } from './walk.ts'

/** A mapping by its position in matching order. */
export interface Filed {
  readonly position: number
  readonly equalities: readonly Equality[]
}

export interface GroupIndex {
  /** Every mapping of the group, ascending. */
  readonly all: Bucket
  /** Those that may match, in buckets that may share some. All of them where the payload takes too many steps. */
  readonly find: (request: HookRequest, steps: Steps) => readonly Bucket[]
}

/** So few are tried faster than they are looked up. */
const handful = 3

/** `mappings` ascending. */
export function createGroupIndex(mappings: readonly Filed[]): GroupIndex {
  const all = mappings.map(({ position }) => position)
  if (all.length <= handful) return { all, find: () => [all] }

  const best = createChoice(mappings)
  const headers = new Map<string, Map<unknown, number[]>>()
  const fields = createFieldIndex()
  const others: number[] = []
  for (const { position, equalities } of mappings) {
    const equality = best(equalities)
    if (equality === undefined) others.push(position)
    else file(equality, position, headers, fields)
  }

  const search = (request: HookRequest, steps: Steps): readonly Bucket[] => {
    const found = new Set<Bucket>([others])
    const keep = (bucket: Bucket) => void found.add(bucket)
    findByHeader(headers, request.headers, keep)
    fields.find(request, keep, steps)
    return [...found]
  }
  return {
    all,
    find: (request, steps) => {
      try {
        return search(request, steps)
      } catch (error) {
        if (error instanceof StepLimitError) return [all]
        throw error
      }
    },
  }
}

function file(
  { of, path, values }: Equality,
  position: number,
  headers: Map<string, Map<unknown, number[]>>,
  fields: FieldIndex,
): void {
  if (of === 'body') {
    for (const value of values) fields.add(path, value, position)
    return
  }
  const name = path[0] as string
  const buckets = headers.get(name) ?? new Map<unknown, number[]>()
  headers.set(name, buckets)
  for (const value of values) addTo(buckets, value, position)
}

function findByHeader(
  index: ReadonlyMap<string, ReadonlyMap<unknown, Bucket>>,
  headers: HookRequest['headers'],
  found: (bucket: Bucket) => void,
): void {
  const look = (buckets: ReadonlyMap<unknown, Bucket>, value: unknown) => {
    const bucket = buckets.get(value)
    if (bucket !== undefined) found(bucket)
  }
  const names = Object.keys(headers)
  for (const name of names.length < index.size ? names : index.keys()) {
    const buckets = index.get(name)
    if (buckets === undefined || !Object.hasOwn(headers, name)) continue
    const given = headers[name]
    if (typeof given === 'object') for (const value of given) look(buckets, value)
    else look(buckets, given)
  }
}

/** Chooses the equality whose fullest bucket holds the fewest mappings of the group; a header before a field. */
function createChoice(mappings: readonly Filed[]): (equalities: readonly Equality[]) => Equality | undefined {
  const counts = new Map<string, Map<Scalar, number>>()
  for (const { equalities } of mappings) {
    for (const equality of equalities) {
      const place = placeOf(equality)
      const ofPlace = counts.get(place) ?? new Map<Scalar, number>()
      counts.set(place, ofPlace)
      for (const value of equality.values) ofPlace.set(value, (ofPlace.get(value) ?? 0) + 1)
    }
  }
  const fullest = (equality: Equality): number => {
    const ofPlace = counts.get(placeOf(equality))
    let most = 0
    for (const value of equality.values) most = Math.max(most, ofPlace?.get(value) ?? 0)
    return most
  }
  return (equalities) => {
    let best: { readonly equality: Equality; readonly size: number } | undefined
    for (const equality of equalities) {
      const size = fullest(equality)
      if (
        best === undefined ||
        size < best.size ||
        (size === best.size && equality.of === 'header' && best.equality.of !== 'header')
      )
        best = { equality, size }
    }
    return best?.equality
  }
}

function placeOf({ of, path }: Equality): string {
  return `${of} ${JSON.stringify(path)}`
}
