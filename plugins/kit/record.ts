/** Owns reading what somebody else has written: fields of whatever came. */

export type Facts = Readonly<Record<string, unknown>>

/** The value, where it has fields by name; undefined for lists and for all that is no object. */
export function recordOf(value: unknown): Facts | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : undefined
}
