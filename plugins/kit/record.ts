/** Reads values of unknown types, such as the fields of a vendor's answer. */

export type Facts = Readonly<Record<string, unknown>>

/** Returns an object with named fields, or undefined for lists and for everything that is not an object. */
export function asRecord(value: unknown): Facts | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : undefined
}

/** Returns a string, or undefined for any other value. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a finite number, or undefined for any other value. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns a list, or an empty one for any other value. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the `at` of a receipt in ISO 8601 from milliseconds since the Unix epoch; empty if they are not a time. */
export function timeOf(ms: unknown): { readonly at?: string } {
  const at = new Date(asNumber(ms) ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? {} : { at: at.toISOString() }
}

/** Parses a text as JSON, or returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
