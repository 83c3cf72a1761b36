/** Makes results plain JSON: removes the library's hidden properties, functions, and numbers that are not finite. */

import { mostText, thrownLimit, tooMuchText } from './limit.ts'
import { isCallable } from './value-type.ts'

/** The most values that a payload can have. */
const mostValues = 600_000
/** Payloads are nested up to 1,000 levels deep. */
const deepest = 2_000

interface Level {
  readonly source: object
  /** Absent for a list. */
  readonly keys: readonly string[] | undefined
  readonly target: unknown[] | Record<string, unknown>
  index: number
}

/** Copies a result, so that it holds no object of the library. */
export function makePlain(value: unknown): unknown {
  if (typeof value === 'string' && value.length > mostText) throw tooMuchText()
  if (!isTree(value)) return plainScalar(value)
  const levels: Level[] = []
  const result = enter(value, levels)
  let values = 0
  let characters = 0
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { source, keys, target, index } = level
    const list = source as readonly unknown[]
    if (index === (keys ?? list).length) {
      levels.pop()
      continue
    }
    level.index += 1
    values += 1
    const key = keys?.[index]
    const child = key === undefined ? list[index] : (source as Record<string, unknown>)[key]
    characters += (key?.length ?? 0) + (typeof child === 'string' ? child.length : 0)
    if (values > mostValues || characters > mostText) throw thrownLimit('its result is too large')
    if (levels.length > deepest) throw thrownLimit('its result is nested too deeply')
    put(target, key, isTree(child) ? enter(child, levels) : plainScalar(child))
  }
  return result
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

function enter(source: object, levels: Level[]): unknown[] | Record<string, unknown> {
  const isList = Array.isArray(source)
  const target = isList ? [] : {}
  levels.push({ source, keys: isList ? undefined : Object.keys(source), target, index: 0 })
  return target
}

function plainScalar(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  return undefined
}

/** As in JSON, an absent value is null in a list and is left out of an object. */
function put(target: unknown[] | Record<string, unknown>, key: string | undefined, value: unknown): void {
  if (key === undefined) (target as unknown[]).push(value ?? null)
  else if (value !== undefined) {
    if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
    else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  }
}
