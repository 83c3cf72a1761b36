/**
 * Owns how much there is to a value when all that it holds is walked through. An expression can put one large thing
 * into many places, so a value may hold far more than the payload did.
 */

/** Characters that cost as much as an element. */
const charactersOfUnit = 32

/** Counts elements and fields, and text by the piece; stops when it is over `limit`. */
export function weigh(value: unknown, limit: number): number {
  let weight = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && weight <= limit) {
    const current = waiting.pop()
    weight += 1
    if (typeof current === 'string') weight += current.length / charactersOfUnit
    if (typeof current !== 'object' || current === null) continue
    if (Array.isArray(current)) {
      // What waits is counted too, so that it cannot grow beyond the limit.
      if (weight + waiting.length + current.length > limit) return limit + 1
      for (const element of current) waiting.push(element)
    } else {
      for (const key in current) {
        if (weight + waiting.length > limit) return limit + 1
        if (Object.hasOwn(current, key)) waiting.push((current as Record<string, unknown>)[key])
      }
    }
  }
  return weight
}

/** The same for what truth is asked of: lists of lists, and the number of fields of the objects in them. */
export function weighTruth(value: unknown, limit: number): number {
  if (!Array.isArray(value)) return 0
  let weight = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && weight <= limit) {
    const current = waiting.pop()
    weight += 1
    if (Array.isArray(current)) {
      if (weight + waiting.length + current.length > limit) return limit + 1
      for (const element of current)
        if (typeof element === 'object' && element !== null) waiting.push(element)
      weight += current.length
    } else {
      for (const _key in current as object) {
        weight += 1
        if (weight > limit) break
      }
    }
  }
  return weight
}
