/** Owns the numbers that a list of bounds leaves over. */

import type { NumericBound } from '../../compile/match/numeric-bounds.ts'

/** Both ends count as within, unless they are open. */
export interface NumericRange {
  readonly low: number
  readonly lowOpen: boolean
  readonly high: number
  readonly highOpen: boolean
  /** Numbers that are taken out. */
  readonly without: readonly number[]
}

const everything: NumericRange = {
  low: Number.NEGATIVE_INFINITY,
  lowOpen: false,
  high: Number.POSITIVE_INFINITY,
  highOpen: false,
  without: [],
}

/** What satisfies all of them. */
export function rangeOf(bounds: readonly NumericBound[]): NumericRange {
  return bounds.reduce(narrow, everything)
}

function narrow(range: NumericRange, { operator, value }: NumericBound): NumericRange {
  switch (operator) {
    case '=':
      return narrow(narrow(range, { operator: '>=', value }), { operator: '<=', value })
    case '!=':
      return { ...range, without: [...range.without, value] }
    case '>':
    case '>=': {
      if (value < range.low) return range
      const open = operator === '>' || (value === range.low && range.lowOpen)
      return { ...range, low: value, lowOpen: open }
    }
    default: {
      if (value > range.high) return range
      const open = operator === '<' || (value === range.high && range.highOpen)
      return { ...range, high: value, highOpen: open }
    }
  }
}

/** The one number that is left, if it is one. */
export function onlyNumber(range: NumericRange): number | undefined {
  return range.low === range.high && holds(range, range.low) ? range.low : undefined
}

export function isEmpty(range: NumericRange): boolean {
  if (range.low > range.high) return true
  return range.low === range.high && !holds(range, range.low)
}

export function holds({ low, lowOpen, high, highOpen, without }: NumericRange, value: number): boolean {
  if (value < low || value > high) return false
  if ((value === low && lowOpen) || (value === high && highOpen)) return false
  return !without.includes(value)
}

/** Whether every number of the inner range is in the outer one. */
export function contains(outer: NumericRange, inner: NumericRange): boolean {
  if (isEmpty(inner)) return true
  const only = onlyNumber(inner)
  if (only !== undefined) return holds(outer, only)
  const above = inner.low > outer.low || (inner.low === outer.low && (inner.lowOpen || !outer.lowOpen))
  const below = inner.high < outer.high || (inner.high === outer.high && (inner.highOpen || !outer.highOpen))
  return above && below && outer.without.every((value) => !holds(inner, value))
}
