/** Writes the sentence about a failed evaluation: the expression, the place in it, and the kind of value that was wrong, never the value. */

import { ExpressionError } from '../../resolve/model/program.ts'
import { describeFault, type Fault, startOfToken } from './fault.ts'

/**
 * The library's own sentences quote values of the payload, so they are not used. `offset` is where the expression
 * begins in its field's text.
 */
export function evaluationError(cause: unknown, source: string, offset: number): ExpressionError {
  const fault = describeFault(cause)
  const { code, position } = fault
  const column =
    position === undefined ? '' : ` at column ${offset + startOfToken(position, fault.token, source) + 1}`
  const message = `the expression \`${shorten(source)}\` failed${column}: ${sentenceOf(fault)}`
  return new ExpressionError(code ?? 'unknown', message, code === undefined ? { cause } : undefined)
}

const maxShownLength = 60

function shorten(source: string): string {
  const line = source.trim().replace(/\s+/g, ' ')
  return line.length <= maxShownLength ? line : `${line.slice(0, maxShownLength - 1)}…`
}

/** Those whose message in the library holds numbers or texts of the payload, or is misleading here. */
const ownSentences: Readonly<Record<string, string>> = {
  D1011: 'its calls nest more than 2000 deep, or it groups by about as many names',
  D1012: 'it takes more than a second of processor time',
  D2014: 'a list of that length is not made',
  D2015: 'it makes a list that is too long: 10000 elements at most',
  D3061: '$power gives a number that is too large',
  D3137: '$error was called',
  D3141: 'an $assert did not hold',
}

/** Those whose message in the library quotes values. */
const quoting = new Set(
  `D1001 D1002 D1009 D1013 D3030 D3060 D3100 D3110 D3130 D3132 D3133 D3140 T1003 T2007 T2009 T2011 T2012`.split(
    ' ',
  ),
)

function sentenceOf({ code, reason, message, value, value2 }: Fault): string {
  if (code === undefined) return 'it cannot be evaluated for this payload, or nests too deeply'
  if (reason !== undefined) return code === 'LIMIT' ? reason : `${reason} (${code})`
  const own = ownSentences[code]
  if (own !== undefined) return `${own} (${code})`
  if (!quoting.has(code))
    return `${message}${value === undefined ? '' : `; it is ${typeOf(value)}`} (${code})`
  const sentence = [value, value2].reduce(
    (text: string, each) => text.replace(String(JSON.stringify(each)), () => typeOf(each)),
    message,
  )
  return sentence === message ? `JSONata error ${code}` : `${sentence} (${code})`
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isCallable(value)) return 'a function'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return 'a number'
  return typeof value === 'boolean' ? 'true or false' : 'text'
}

/** True if the value is a function of JSONata, however it was made. A payload can only hold look-alikes. */
export function isCallable(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  const { implementation, environment } = value as {
    implementation?: unknown
    environment?: { lookup?: unknown } | null
  }
  return typeof implementation === 'function' || typeof environment?.lookup === 'function'
}
