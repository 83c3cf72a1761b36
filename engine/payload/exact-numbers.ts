/** Detects integers beyond 2^53 in a body, and parses it again without rounding them. */

/** Node 24's JSON has more functions than TypeScript's library declares. A transform may replace them, after this. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(text: string): unknown
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): value is ExactNumber
}

/** A number with its source text, which `JSON.stringify` prints. */
interface ExactNumber {
  readonly rawJSON: string
}

export { isRawJSON as isExactNumber }

/** An integer with fewer digits is safe. */
const minDigits = 16

/**
 * Returns the body parsed again, with each unsafe integer as an {@link ExactNumber}. Returns undefined if the body
 * holds none or is not JSON (a form), so that the parsed payload can be used.
 */
export function parseExact(body: Uint8Array | string): unknown {
  return parseMarked(body, mark, unmark)
}

/** Does the same with each unsafe integer as a text of its digits. */
export function parseTexts(body: Uint8Array | string): unknown {
  return parseMarked(body, '', (value) => value)
}

/** The digits of the largest safe integer. */
const maxSafe = String(Number.MAX_SAFE_INTEGER)

/** A string, or an integer that may be unsafe, without fraction and exponent. Neither is searched twice. */
const stringOrInteger = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs

/**
 * Turns integers into texts before the body is parsed: `[9007199254740993]` becomes `["9007199254740993"]`. A reviver gets the
 * source of numbers too, but it is called for each value of the body, which takes half a second for a megabyte of them.
 */
function parseMarked(body: Uint8Array | string, before: string, after: (value: unknown) => unknown): unknown {
  if (!hasLongInteger(body)) return undefined
  const text = (typeof body === 'string' ? body : decode(body)).replace(/^\ufeff/, '')
  const written = text.replace(stringOrInteger, (found) =>
    found.startsWith('"') || !isUnsafe(found) ? found : `"${before}${found}"`,
  )
  if (written === text) return undefined
  try {
    return after(parse(written))
  } catch {
    return undefined
  }
}

/** Looks at one character in 16, since so many digits in a row include one of them. A pattern takes ten times as long. */
function hasLongInteger(body: Uint8Array | string): boolean {
  const isDigit = (at: number) => {
    const unit = typeof body === 'string' ? body.charCodeAt(at) : (body[at] ?? 0)
    return unit >= 0x30 && unit <= 0x39
  }
  for (let at = minDigits - 1; at < body.length; at += minDigits) {
    if (!isDigit(at)) continue
    let start = at
    let end = at
    while (isDigit(start - 1)) start--
    while (isDigit(end + 1)) end++
    if (end - start >= minDigits - 1) return true
  }
  return false
}

function decode({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}

/** JSON writes no leading zeros, so digits of one length compare as numbers do. */
function isUnsafe(integer: string): boolean {
  const digits = integer.replace('-', '')
  return digits.length > maxSafe.length || digits > maxSafe
}

/** A code point that is no character. If a sender writes it before digits alone, those digits become a number. */
const mark = '\ufdd0'
const markUnit = 0xfdd0
const marked = /^\ufdd0-?\d+$/

/** Replaces the marked texts in place. @throws RangeError for a value that is nested too deeply */
function unmark(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.charCodeAt(0) === markUnit && marked.test(value) ? rawJSON(value.slice(1)) : value
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (mayHoldMark(value[index])) value[index] = unmark(value[index])
    }
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>
    for (const name in fields) if (mayHoldMark(fields[name])) fields[name] = unmark(fields[name])
  }
  return value
}

function mayHoldMark(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}

/** True if a number stands for an integer whose last digits may have been lost. */
export function isInexact(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** True if compact JSON may hold such an integer. A long run of digits inside a text counts too. */
export function mayHoldInexact(json: string): boolean {
  return /\d{16}|\d[eE]\+/.test(json)
}
