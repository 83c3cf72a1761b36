/** Makes results plain JSON: removes the library's hidden properties, functions, and numbers that are not finite. */

import { isCallable } from './failure.ts'
import { maxTextLength, thrownLimit, tooMuchText } from './fault.ts'

/** Maximum number of values that a payload can have. */
const maxValues = 600_000

/** Copies a result by way of JSON, so that it holds no object of the library. In a list an absent value is null. */
export function makePlain(result: unknown): unknown {
  if (typeof result === 'string' && result.length > maxTextLength) throw tooMuchText()
  if (typeof result !== 'object' || result === null) return plainValue(result)
  let values = 0
  let characters = 0
  const write = (key: string, value: unknown): unknown => {
    values += 1
    characters += key.length + (typeof value === 'string' ? value.length : 0)
    if (values > maxValues || characters > maxTextLength) throw thrownLimit('its result is too large')
    return plainValue(value)
  }
  try {
    const json = JSON.stringify(result, write)
    return json === undefined ? undefined : JSON.parse(json)
  } catch (error) {
    if (error instanceof RangeError) throw thrownLimit('its result is nested too deeply')
    throw error
  }
}

/** An object that a payload marks as a function counts as one, as it does for the library. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') return undefined
  const isFunction =
    isCallable(value) || Object.hasOwn(value, '_jsonata_lambda') || Object.hasOwn(value, '_jsonata_function')
  return isFunction ? undefined : value
}
