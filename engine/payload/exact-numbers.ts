/** Detects integers beyond 2^53 in a body, and parses it again without rounding them. */

/** Node 24's JSON has these functions, and TypeScript's library does not declare them yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): value is ExactNumber
}

/** A number with its source text, which `JSON.stringify` prints. */
interface ExactNumber {
  readonly rawJSON: string
}

export { isRawJSON as isExactNumber }

/** Digits that a safe integer cannot have, in a place where JSON allows a number to begin. */
const longInteger = /[:[,\s]-?\d{16}|^\ufeff?-?\d{16}/

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

function decodeBody(body: Uint8Array | string): string {
  return typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

/**
 * Turns integers into texts before the body is parsed. A reviver gets the source of numbers too, but it is called for
 * each value of the body, which takes half a second for a megabyte of them.
 */
function parseMarked(body: Uint8Array | string, before: string, after: (value: unknown) => unknown): unknown {
  if (!holdsDigitRun(body)) return undefined
  const decoded = decodeBody(body)
  if (!longInteger.test(decoded)) return undefined
  const text = decoded.replace(/^\ufeff/, '')
  const written = markIntegers(text, before)
  if (written === text) return undefined
  try {
    return after(JSON.parse(written))
  } catch {
    return undefined
  }
}

/** The digits of the shortest unsafe integer. */
const minDigits = 16

/**
 * Whether this many digits stand together. One of them is then at a multiple of that number, so that few positions are
 * tested.
 */
function holdsDigitRun(body: Uint8Array | string): boolean {
  const isDigitAt = (at: number) => isDigit(typeof body === 'string' ? body.charCodeAt(at) : (body[at] ?? 0))
  for (let at = 0; at < body.length; at += minDigits) {
    if (!isDigitAt(at)) continue
    let start = at
    while (isDigitAt(start - 1)) start--
    let end = at + 1
    while (isDigitAt(end)) end++
    if (end - start >= minDigits) return true
  }
  return false
}

/** A code point that is no character. If a sender writes it before digits alone, those digits become a number. */
const mark = '\ufdd0'
const markUnit = 0xfdd0
const marked = /^\ufdd0-?\d+$/

const quote = 0x22
const minus = 0x2d

/** `[9007199254740993]` becomes `["9007199254740993"]`, with the mark after the quote. */
function markIntegers(text: string, before: string): string {
  const opening = `"${before}`
  let result = ''
  let done = 0
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfText(text, at + 1)
    else if (unit === minus || isDigit(unit)) {
      const end = endOfDigits(text, at + 1)
      if (isOfNumber(text.charCodeAt(end))) at = endOfNumber(text, end)
      else {
        if (isUnsafe(text, unit === minus ? at + 1 : at, end)) {
          result += `${text.slice(done, at)}${opening}${text.slice(at, end)}"`
          done = end
        }
        at = end
      }
    } else at++
  }
  return done === 0 ? text : result + text.slice(done)
}

const maxSafe = String(Number.MAX_SAFE_INTEGER)

/** Compares digits as JSON writes them, without leading zeros. Comparing texts is much faster than parsing the number. */
function isUnsafe(text: string, start: number, end: number): boolean {
  const length = end - start
  return length > maxSafe.length || (length === maxSafe.length && text.slice(start, end) > maxSafe)
}

/** Returns the position after the closing quote. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

function endOfDigits(text: string, start: number): number {
  let end = start
  while (isDigit(text.charCodeAt(end))) end++
  return end
}

/** Returns the end of the number, including fraction and exponent. */
function endOfNumber(text: string, start: number): number {
  let end = start
  while (isOfNumber(text.charCodeAt(end))) end++
  return end
}

/** Whether the character is a digit or one of `+ - . E e`. */
function isOfNumber(unit: number): boolean {
  return isDigit(unit) || unit === 0x2b || unit === minus || unit === 0x2e || (unit | 0x20) === 0x65
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

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

/** Whether a number stands for an integer whose last digits may have been lost. */
export function isInexact(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Whether compact JSON may hold such an integer. A long run of digits inside a text counts too. */
export function mayHoldInexact(json: string): boolean {
  return /\d{16}|\d[eE]\+/.test(json)
}
