/** Makes results plain JSON: removes the library's hidden properties, functions, and numbers that are not finite. */

import { isCallable } from './failure.ts'
import { maxTextLength, thrownLimit, tooMuchText } from './limit.ts'

/** The most values that a payload can have. */
const maxValues = 600_000
/** Payloads are nested up to 1,000 levels deep. */
const deepest = 2_000

/** Copies a result, so that it holds no object of the library. */
export function makePlain(result: unknown): unknown {
  if (typeof result === 'string' && result.length > maxTextLength) throw tooMuchText()
  let values = 0
  let characters = 0

  function copy(value: unknown, depth: number): unknown {
    if (!isTree(value)) return plainScalar(value)
    if (Array.isArray(value)) {
      const list: unknown[] = []
      // As in JSON, an absent value is null in a list.
      for (const each of value) list.push(copyInside('', each, depth) ?? null)
      return list
    }
    const object: Record<string, unknown> = {}
    for (const key of Object.keys(value))
      setField(object, key, copyInside(key, (value as Record<string, unknown>)[key], depth))
    return object
  }

  function copyInside(key: string, value: unknown, depth: number): unknown {
    values += 1
    characters += key.length + (typeof value === 'string' ? value.length : 0)
    if (values > maxValues || characters > maxTextLength) throw thrownLimit('its result is too large')
    if (depth >= deepest) throw thrownLimit('its result is nested too deeply')
    return copy(value, depth + 1)
  }

  return copy(result, 0)
}

/** Whether the value is an object or a list, and not a function of JSONata, which is an object too. */
function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isFunctionLike(value)
}

/** An object that a payload marks as a function counts as one, as it does for the library. */
function isFunctionLike(value: object): boolean {
  return (
    isCallable(value) || Object.hasOwn(value, '_jsonata_lambda') || Object.hasOwn(value, '_jsonata_function')
  )
}

function plainScalar(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  return undefined
}

/** Leaves an absent value out, as JSON does. */
function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) return
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
}
