/**
 * Owns how much there is to a value when all that it holds is walked through. An expression can put one large thing
 * into many places, so a value may hold far more than the payload did.
 */

import { thrownLimit } from './limit.ts'

/** Characters that cost as much as an element. */
const charactersOfUnit = 32

type Fields = Readonly<Record<string | number, unknown>>

/** Counts elements and fields, and text by the piece; stops when it is over `limit`. */
export function weigh(value: unknown, limit: number): number {
  let weight = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && weight <= limit) {
    const current = waiting.pop()
    if (typeof current !== 'object' || current === null) {
      weight += weightOfScalar(current)
      continue
    }
    weight += 1
    // The values of large objects take three times as long to list as their keys.
    const keys = Array.isArray(current) ? undefined : Object.keys(current)
    const length = keys?.length ?? (current as readonly unknown[]).length
    // What waits is counted too, so that it cannot grow beyond the limit.
    if (weight + waiting.length + length > limit) return limit + 1
    for (let index = 0; index < length; index++) {
      const child = (current as Fields)[keys?.[index] ?? index]
      if (typeof child === 'object' && child !== null) waiting.push(child)
      else weight += weightOfScalar(child)
    }
  }
  return weight
}

function weightOfScalar(value: unknown): number {
  return typeof value === 'string' ? 1 + value.length / charactersOfUnit : 1
}

/** The fields of larger objects are kept in a table, which is slow to list. */
const mostFieldsInPlace = 100
const costOfTable = 4

/** The same for what truth is asked of: lists of lists, and the number of fields of the objects in them. */
function weighTruth(value: unknown, limit: number): number {
  if (!Array.isArray(value)) return 0
  let weight = 0
  const waiting: object[] = [value]
  const fields = new Map<object, number>()
  for (let current = waiting.pop(); current !== undefined && weight <= limit; current = waiting.pop()) {
    if (Array.isArray(current)) {
      weight += 1 + current.length
      if (weight + waiting.length > limit) return limit + 1
      for (const element of current) {
        if (typeof element === 'object' && element !== null) waiting.push(element)
      }
    } else {
      const known = fields.get(current) ?? Object.keys(current).length
      fields.set(current, known)
      weight += 1 + known * (known > mostFieldsInPlace ? costOfTable : 1)
    }
  }
  return weight
}

/** What is compared, or written as text: some 20 ms. */
export const mostCompared = 10_000

export function checkCompared(value: unknown): void {
  if (weigh(value, mostCompared) > mostCompared) throw thrownLimit('what it compares is too large')
}

/** What truth is asked of. */
const mostTested = 250_000

export function checkTested(value: unknown): void {
  if (weighTruth(value, mostTested) > mostTested) throw thrownLimit('what it tests is too large')
}
