/** Owns what a body pattern demands to be equal, which the decision index files a mapping under. */

import type { Equality } from '../../resolve/program.ts'
import type { BodyPattern } from './body-pattern.ts'
import type { Scalar } from './scalar.ts'

/** Each of them is necessary; they need not be enough, because of operators, and because lists have elements. */
export function equalitiesOfBody(pattern: BodyPattern, path: readonly string[] = []): readonly Equality[] {
  if (pattern.kind === 'keys')
    return Array.from(pattern.keys, ([key, inner]) => equalitiesOfBody(inner, [...path, key])).flat()
  const values = wantedValues(pattern)
  return values === undefined ? [] : [{ of: 'body', path, values }]
}

/** Nothing where it may hold of other values too. */
function wantedValues(pattern: BodyPattern): readonly Scalar[] | undefined {
  if (pattern.kind === 'equals') return [pattern.value]
  if (pattern.kind !== 'any') return undefined
  const values: Scalar[] = []
  for (const each of pattern.of) {
    const wanted = wantedValues(each)
    if (wanted === undefined) return undefined
    for (const value of wanted) values.push(value)
  }
  return values
}
