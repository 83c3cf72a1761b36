/** Owns finding, for each mapping, the first earlier one that hides it, without comparing all with all. */

import type { BodyPattern } from '../compile/match/body-pattern.ts'
import { type Clauses, impliesMatch } from './implication/match.ts'

/**
 * The position of the first of the earlier ones that is satisfied whenever a later one is; those that `goesOn` are
 * passed over. One with equality clauses can only hide what has them too, so each is filed under its rarest.
 */
export function createShadowFinder(
  all: readonly Clauses[],
  goesOn: (position: number) => boolean,
): (position: number) => number | undefined {
  const equalities = all.map(equalitiesOf)
  const counts = new Map<string, number>()
  for (const equality of equalities.flat()) counts.set(equality, (counts.get(equality) ?? 0) + 1)
  const filed = new Map<string | undefined, number[]>()
  for (const position of all.keys()) {
    if (goesOn(position)) continue
    const rarest = rarestOf(equalities[position] ?? [], counts)
    const others = filed.get(rarest)
    if (others === undefined) filed.set(rarest, [position])
    else others.push(position)
  }
  return (position) => {
    const given = all[position]
    if (given === undefined) return undefined
    let first = position
    for (const equality of [undefined, ...(equalities[position] ?? [])]) {
      for (const other of filed.get(equality) ?? []) {
        if (other >= first) break
        if (impliesMatch(given, all[other] as Clauses)) first = other
      }
    }
    return first === position ? undefined : first
  }
}

function rarestOf(equalities: readonly string[], counts: ReadonlyMap<string, number>): string | undefined {
  const countOf = (equality: string) => counts.get(equality) ?? 0
  return equalities.toSorted((one, other) => countOf(one) - countOf(other))[0]
}

/** `match.source` says all that the same clause of a body says, and more: it is told as that. */
function equalitiesOf({ source, headers, body }: Clauses): readonly string[] {
  const ofSource = source === undefined ? [] : [nameOf(['source'], source)]
  const ofHeaders = [...headers].flatMap(([name, wanted]) =>
    typeof wanted === 'string' ? [nameOf(name, wanted)] : [],
  )
  return [...ofSource, ...ofHeaders, ...[...body].flatMap(([key, pattern]) => equalitiesIn(pattern, [key]))]
}

function equalitiesIn(pattern: BodyPattern, path: readonly string[]): readonly string[] {
  if (pattern.kind === 'equals') return [nameOf(path, pattern.value)]
  if (pattern.kind !== 'keys') return []
  return [...pattern.keys].flatMap(([key, inner]) => equalitiesIn(inner, [...path, key]))
}

function nameOf(place: string | readonly string[], value: unknown): string {
  return JSON.stringify([place, value])
}
