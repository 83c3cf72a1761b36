/** Owns reading what somebody else has written: fields of whatever came, of which no type is promised. */

export type Facts = Readonly<Record<string, unknown>>

/** The value, where it has fields by name; undefined for lists and for all that is no object. */
export function recordOf(value: unknown): Facts | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : undefined
}

/** The value, where it is a text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value, where it is a number, and one that can be counted with. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The list, where it is one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The `at` of a receipt: ISO 8601 of milliseconds since the Unix epoch; nothing where they are no time. */
export function timeOf(ms: unknown): { readonly at?: string } {
  const at = new Date(numberOf(ms) ?? Number.NaN)
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
