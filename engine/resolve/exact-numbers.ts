/** Owns integers beyond 2^53: noticing that a body holds one, and parsing it again without rounding. */

/** What Node 24's JSON can do and the compiler's library does not know yet. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): value is ExactNumber
}

/** A number by its source text; `JSON.stringify` prints it as it stands. */
export interface ExactNumber {
  readonly rawJSON: string
}

export { isRawJSON as isExactNumber, rawJSON as exactNumber }

/** A run of digits that a safe integer cannot have, where JSON allows a number to begin. */
const longInteger = /[:[,\s]-?\d{16}|^-?\d{16}/
const digitsOnly = /^-?\d+$/

/**
 * The body once more, each unsafe integer replaced by what `keep` makes of its source text; nothing where the
 * body holds none or is no JSON (a form), so that the payload as it was parsed serves.
 */
export function parseExact(rawBody: Uint8Array, keep: (source: string) => unknown): unknown {
  const body = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength)
  if (!longInteger.test(body.toString('latin1'))) return undefined
  try {
    return parse(body.toString('utf8'), (_key, value, { source }) =>
      isInexact(value) && source !== undefined && digitsOnly.test(source) ? keep(source) : value,
    )
  } catch {
    return undefined
  }
}

/** Whether a number stands for an integer whose last digits may have been lost. */
export function isInexact(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Whether compact JSON may hold such an integer; a long run of digits inside a text counts too. */
export function mayHoldInexact(json: string): boolean {
  return /\d{16}|\d[eE]\+/.test(json)
}
