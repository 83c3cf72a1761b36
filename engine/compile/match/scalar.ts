/** The values that patterns compare with: those of JSON, except lists and objects. */

export type Scalar = string | number | boolean | null

export function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}

/** Completes a sentence about a value that is not a scalar. */
export function scalarProblem(value: unknown): string {
  return typeof value === 'number'
    ? 'must be a number that JSON has: no payload holds an infinite one'
    : 'must be text, a number, true, false or null'
}
