/** Indexes the mappings of one path. Each is filed under the equality that distinguishes it best from the others. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Equality, Matcher } from '../../resolve/program.ts'
import { smallPieces, type Work } from '../slices.ts'
import { addTo, type Bucket, createFieldIndex, type FieldIndex } from './field-index.ts'
import type { Scalar } from './scalar.ts'

/** Names mappings by their position in the group, from 0, so that the index stays valid when the group moves. */
export interface GroupIndex {
  /** Every mapping of the group, ascending. */
  readonly all: Bucket
  /** Returns the buckets of the mappings that may match. Buckets may overlap. */
  readonly find: (request: HookRequest) => readonly Bucket[]
}

/** Groups of up to this many mappings are tried faster than they are looked up. */
const handful = 3
const handfuls = Array.from({ length: handful + 1 }, (_, length) => allOf(length))

/** `matchers` are in matching order. */
export function* indexGroup(matchers: readonly Matcher[]): Work<GroupIndex> {
  const few = handfuls[matchers.length]
  if (few !== undefined) return few

  const best = yield* createChoice(matchers)
  const headers = new Map<string, Map<unknown, number[]>>()
  const fields = createFieldIndex()
  const others: number[] = []
  for (const [place, { equalities }] of matchers.entries()) {
    const equality = best(equalities)
    if (equality === undefined) others.push(place)
    else file(equality, place, headers, fields)
    if (place % smallPieces === 0) yield
  }

  const { all } = allOf(matchers.length)
  return {
    all,
    find: (request) => {
      const found = new Set<Bucket>([others])
      const keep = (bucket: Bucket) => void found.add(bucket)
      findByHeader(headers, request.headers, keep)
      fields.find(request, keep)
      return [...found]
    },
  }
}

function allOf(length: number): GroupIndex {
  const all = Array.from({ length }, (_, place) => place)
  const buckets = [all]
  return { all, find: () => buckets }
}

function file(
  { of, path, values }: Equality,
  place: number,
  headers: Map<string, Map<unknown, number[]>>,
  fields: FieldIndex,
): void {
  if (of === 'body') {
    for (const value of values) fields.add(path, value, place)
    return
  }
  const name = path[0] as string
  const buckets = headers.get(name) ?? new Map<unknown, number[]>()
  headers.set(name, buckets)
  for (const value of values) addTo(buckets, value, place)
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

type Choice = (equalities: readonly Equality[]) => Equality | undefined

/** Chooses the equality whose fullest bucket holds the fewest mappings of the group, and prefers headers to fields. */
function* createChoice(matchers: readonly Matcher[]): Work<Choice> {
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

/** Returns a key for counting. Two places with the same key would only lead to a worse choice. */
function placeOf({ of, path }: Equality): string {
  return `${of} ${path.length === 1 ? path[0] : path.join('\n')}`
}
