/** Detects integers beyond 2^53 in a body, and parses it again without rounding them. */

/** An integer with fewer digits is safe. */
const minDigits = 16

/** The digits of the largest safe integer. */
const maxSafe = String(Number.MAX_SAFE_INTEGER)

/** A string, or an integer that may be unsafe, without fraction and exponent. Neither is searched twice. */
const stringOrInteger = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs

/**
 * Returns the body parsed again, with each unsafe integer as a string of its digits: `[9007199254740993]` gives
 * `["9007199254740993"]`. Returns undefined if the body holds none or is not JSON (a form), so that the parsed payload can be
 * used. A reviver gets the source of numbers too, but it is called for each value of the body, which takes half a second for a
 * megabyte of them.
 */
export function parseTexts(body: Uint8Array | string): unknown {
  if (!hasLongInteger(body)) return undefined
  const text = (typeof body === 'string' ? body : decode(body)).replace(/^\ufeff/, '')
  const written = text.replace(stringOrInteger, (found) =>
    found.startsWith('"') || !isUnsafe(found) ? found : `"${found}"`,
  )
  if (written === text) return undefined
  try {
    return JSON.parse(written)
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

/** True if a number stands for an integer whose last digits may have been lost. */
export function isInexact(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}
