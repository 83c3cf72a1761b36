/** Reads the bounds of `numeric`, which are pairs of an operator and a number, and tests numbers against them. */

const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const

export interface NumericBound {
  readonly operator: (typeof comparisons)[number]
  readonly value: number
}

/** The bounds, or the mistake in them as the end of a sentence. `at` is the position in the list, if one is to blame. */
type ReadBounds =
  | { readonly bounds: readonly NumericBound[] }
  | { readonly bounds: undefined; readonly problem: string; readonly at?: number }

export function readBounds(value: unknown): ReadBounds {
  if (!Array.isArray(value) || value.length === 0 || value.length % 2 === 1)
    return wrong('must be a list of pairs, each an operator and a number')
  const bounds: NumericBound[] = []
  for (let at = 0; at < value.length; at += 2) {
    const operator = comparisons.find((known) => known === value[at])
    if (operator === undefined) return wrong(`must be one of ${comparisons.join(' ')}`, at)
    const number: unknown = value[at + 1]
    if (typeof number !== 'number' || !Number.isFinite(number)) return wrong('must be a number', at + 1)
    bounds.push({ operator, value: number })
  }
  return isSatisfiable(bounds) ? { bounds } : wrong('holds bounds that no number satisfies together')
}

export function isWithin(value: number, bounds: readonly NumericBound[]): boolean {
  for (const bound of bounds) if (!satisfies(value, bound)) return false
  return true
}

function satisfies(value: number, { operator, value: bound }: NumericBound): boolean {
  switch (operator) {
    case '=':
      return value === bound
    case '!=':
      return value !== bound
    case '<':
      return value < bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    case '>=':
      return value >= bound
  }
}

/** A range of more than one number cannot be emptied by a list of `!=`. */
function isSatisfiable(bounds: readonly NumericBound[]): boolean {
  const holds = (value: number) => isWithin(value, bounds)
  const pinned = bounds.find(({ operator }) => operator === '=')
  if (pinned !== undefined) return holds(pinned.value)
  const least = Math.max(...valuesOf(bounds, ['>', '>=']))
  const most = Math.min(...valuesOf(bounds, ['<', '<=']))
  return least < most || (least === most && holds(least))
}

function valuesOf(bounds: readonly NumericBound[], operators: readonly string[]): number[] {
  return bounds.filter(({ operator }) => operators.includes(operator)).map(({ value }) => value)
}

function wrong(problem: string, at?: number): ReadBounds {
  return at === undefined ? { bounds: undefined, problem } : { bounds: undefined, problem, at }
}
