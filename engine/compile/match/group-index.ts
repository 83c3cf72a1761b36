/** Owns the mappings of one path: each filed under the equality that tells it apart best from the others. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Equality, Matcher } from '../../resolve/program.ts'
import { smallPieces, type Work } from '../slices.ts'
import { createChoice } from './equality-choice.ts'
import { addTo, type Bucket, createFieldIndex, type FieldIndex } from './field-index.ts'

/** Knows a mapping by its place in the group, from 0, so that it holds wherever the group's mappings stand. */
export interface GroupIndex {
  /** Every mapping of the group, ascending. */
  readonly all: Bucket
  /** Those that may match, in buckets that may share some. */
  readonly find: (request: HookRequest) => readonly Bucket[]
}

/** So few are tried faster than they are looked up. */
const handful = 3
const handfuls = Array.from({ length: handful + 1 }, (_, length) => allOf(length))

/** `matchers` in matching order. */
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
