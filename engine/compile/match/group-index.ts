/** Indexes the mappings of one path. Each is filed under the equality that it shares with the fewest others. */

import type { HookRequest } from '../../resolve/model/decision.ts'
import type { Equality } from '../../resolve/model/program.ts'
import { type Bucket, createFieldIndex } from './field-index.ts'
import type { Scalar } from './scalar.ts'

export interface Group {
  readonly path: string | undefined
  /** Every mapping of the group. */
  readonly all: Bucket
  /** Returns the mappings that may match, in buckets that may share some. */
  readonly find: (request: HookRequest) => readonly Bucket[]
}

/** Groups of up to this many mappings are tried faster than they are looked up. */
const handful = 3

/** `positions` are those of the group among all mappings, ascending. */
export function indexGroup(
  path: string | undefined,
  positions: Bucket,
  equalitiesOf: (position: number) => readonly Equality[],
): Group {
  if (positions.length <= handful) return { path, all: positions, find: () => [positions] }

  const counts = new Map<string, number>()
  for (const position of positions) {
    for (const equality of equalitiesOf(position))
      for (const key of keysOf(equality)) counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  const trees = { header: createFieldIndex(), body: createFieldIndex() }
  const others: number[] = []
  for (const position of positions) {
    const equality = chooseEquality(equalitiesOf(position), counts)
    if (equality === undefined) others.push(position)
    else for (const value of equality.values) trees[equality.part].add(equality.path, value, position)
  }
  return {
    path,
    all: positions,
    find: ({ headers, payload }) => {
      const found = new Set<Bucket>([others])
      trees.header.find(headers, found)
      trees.body.find(payload, found)
      return [...found]
    },
  }
}

/** Chooses the equality whose fullest bucket holds the fewest mappings of the group, and a header before a field. */
function chooseEquality(
  equalities: readonly Equality[],
  counts: ReadonlyMap<string, number>,
): Equality | undefined {
  if (equalities.length < 2) return equalities[0]
  const sized = equalities.map((equality) => {
    const fullest = keysOf(equality).reduce((highest, key) => Math.max(highest, counts.get(key) ?? 0), 0)
    return { equality, size: equality.part === 'header' ? fullest - 0.5 : fullest }
  })
  return sized.reduce((best, each) => (each.size < best.size ? each : best)).equality
}

/** Returns a key for each value at its place. */
function keysOf({ part, path, values }: Equality): readonly string[] {
  const place = [part, ...path].join('\n')
  return values.map((value: Scalar) => `${place}\n${typeof value} ${value}`)
}
