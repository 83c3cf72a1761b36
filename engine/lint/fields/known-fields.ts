/** Looks fields up in the sample payloads of an endpoint: whether one exists, and which one was probably meant. */

import { anyStep } from '../../compile/template/reference.ts'
import { nearestName } from '../../config/values/nearest.ts'

/** Maximum number of objects searched for a field of the same name. */
const searched = 20_000

/**
 * True if some payload has a value there, or ends on the way at a null, an empty list or an empty object, so that it cannot
 * be known.
 */
export function isKnown(payloads: readonly unknown[], steps: readonly string[]): boolean {
  const { values, isUnsure } = follow(payloads, steps)
  return isUnsure || values.length > 0
}

/**
 * Returns the field that was probably meant, as the author would write it: one with nearly that name beside it, or else, unless
 * `besideOnly`, one of that name elsewhere.
 */
export function nearestField(
  payloads: readonly unknown[],
  steps: readonly string[],
  besideOnly = false,
): string | undefined {
  const firstUnknown = steps.findIndex((_step, index) => !isKnown(payloads, steps.slice(0, index + 1)))
  const before = steps.slice(0, firstUnknown)
  const missing = steps[firstUnknown]
  const { values: parents, isUnsure } = follow(payloads, before)
  if (missing === undefined || isUnsure) return undefined
  const nearest = nearestName(missing, new Set(parents.flatMap(keysOf)))
  if (nearest !== undefined) return [...before, nearest].filter((step) => step !== anyStep).join('.')
  return besideOnly ? undefined : findElsewhere(payloads, steps.at(-1) ?? missing)
}

/**
 * Follows the steps from each payload. `isUnsure`: some end on the way at a null, or at something empty. At most `maxElements` of
 * a list or an object are followed, and `maxVisited` values at each step.
 */
export function follow(
  payloads: readonly unknown[],
  steps: readonly string[],
  { maxElements = Infinity, maxVisited = Infinity } = {},
): { readonly values: readonly unknown[]; readonly isUnsure: boolean } {
  let values = payloads
  let isUnsure = false
  for (const step of steps) {
    const next: unknown[] = []
    const isIndex = /^\d+$/.test(step)
    // A payload may be nested deeper than the stack allows.
    const waiting = values.toReversed()
    for (let visited = 0; waiting.length > 0; visited++) {
      const value = waiting.pop()
      if (value === null || visited === maxVisited) isUnsure = true
      if (visited === maxVisited) break
      if (step === 'length' && (typeof value === 'string' || Array.isArray(value))) next.push(value.length)
      // `name[0]` is an initial.
      else if (typeof value === 'string' && isIndex) next.push(value)
      else if (typeof value === 'object' && value !== null) {
        const inside = firstValues(value, maxElements)
        isUnsure ||= inside.length === 0
        // `commits[0]`, an iteration of a loop, or a name that is meant for each element.
        if (step === anyStep || (isIndex && Array.isArray(value))) for (const each of inside) next.push(each)
        else if (Array.isArray(value)) for (const each of inside.toReversed()) waiting.push(each)
        else if (Object.hasOwn(value, step)) next.push((value as Readonly<Record<string, unknown>>)[step])
      }
    }
    values = next
  }
  return { values, isUnsure }
}

function firstValues(value: object, max: number): readonly unknown[] {
  if (Array.isArray(value)) return value.slice(0, max)
  const values: unknown[] = []
  for (const key in value) if (values.push((value as Readonly<Record<string, unknown>>)[key]) >= max) break
  return values
}

function keysOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.slice(0, 100).flatMap(keysOf)
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

/** Returns the shallowest field of that name. */
function findElsewhere(payloads: readonly unknown[], name: string): string | undefined {
  const queue: { readonly value: unknown; readonly path: readonly string[] }[] = payloads.map((value) => ({
    value,
    path: [],
  }))
  for (const [position, { value, path }] of queue.entries()) {
    if (position > searched) return undefined
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value) && Object.hasOwn(value, name)) return [...path, name].join('.')
    for (const [key, below] of Object.entries(value).slice(0, 1000)) {
      queue.push({ value: below, path: Array.isArray(value) ? path : [...path, key] })
    }
  }
  return undefined
}
