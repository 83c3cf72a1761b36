/** Notices that a body holds integers beyond 2^53, and parses it again without rounding them. */

/** What Node 24's JSON can do and the compiler's library does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): value is ExactNumber
}

/** A number by its source text; `JSON.stringify` prints it as it stands. */
interface ExactNumber {
  readonly rawJSON: string
}

export { isRawJSON as isExactNumber }

/** A run of digits that a safe integer cannot have, where JSON allows a number to begin. */
const longInteger = /[:[,\s]-?\d{16}|^\ufeff?-?\d{16}/

/**
 * The body once more, each unsafe integer as an {@link ExactNumber}; nothing where the body holds none or is no
 * JSON (a form), so that the payload as it was parsed serves.
 */
export function parseExact(body: Uint8Array | string): unknown {
  return parseMarked(body, mark, unmark)
}

/** The same with each unsafe integer as its source text. */
export function parseTexts(body: Uint8Array | string): unknown {
  return parseMarked(body, '', (value) => value)
}

function decodeBody(body: Uint8Array | string): string {
  return typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

/**
 * Integers are made texts before the body is parsed. A reviver, which is given a number's source as well, is
 * called for each value of the body: a megabyte of them would hold everybody up for half a second.
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
const fewestDigits = 16

/** Whether so many digits stand together. One of them is then at a multiple of their number, so few are looked at. */
function holdsDigitRun(body: Uint8Array | string): boolean {
  const isDigitAt = (at: number) => isDigit(typeof body === 'string' ? body.charCodeAt(at) : (body[at] ?? 0))
  for (let at = 0; at < body.length; at += fewestDigits) {
    if (!isDigitAt(at)) continue
    let start = at
    while (isDigitAt(start - 1)) start--
    let end = at + 1
    while (isDigitAt(end)) end++
    if (end - start >= fewestDigits) return true
  }
  return false
}

/** A character that is none. A sender that writes it before digits, and nothing else, gets the digits as a number. */
const mark = '\ufdd0'
const markUnit = 0xfdd0
const marked = /^\ufdd0-?\d+$/

const quote = 0x22
const minus = 0x2d

/** `[9007199254740993]` becomes `["9007199254740993"]`, with the mark behind the quote. */
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

const largestSafe = String(Number.MAX_SAFE_INTEGER)

/** Of digits as JSON has them: no zero leads. Comparing texts takes a fraction of reading the number. */
function isUnsafe(text: string, start: number, end: number): boolean {
  const length = end - start
  return (
    length > largestSafe.length || (length === largestSafe.length && text.slice(start, end) > largestSafe)
  )
}

/** Behind the closing quote. */
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

/** Fraction and exponent included. */
function endOfNumber(text: string, start: number): number {
  let end = start
  while (isOfNumber(text.charCodeAt(end))) end++
  return end
}

/** Digits, and `+ - . E e`. */
function isOfNumber(unit: number): boolean {
  return isDigit(unit) || unit === 0x2b || unit === minus || unit === 0x2e || (unit | 0x20) === 0x65
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** In place. @throws RangeError for a value nested too deeply to walk */
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

/** Whether compact JSON may hold such an integer; a long run of digits inside a text counts too. */
export function mayHoldInexact(json: string): boolean {
  return /\d{16}|\d[eE]\+/.test(json)
}
