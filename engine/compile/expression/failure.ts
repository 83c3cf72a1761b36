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

function sentenceOf(fault: Fault): string {
  const { code, reason } = fault
  if (code === undefined) return 'it cannot be evaluated for this payload, or nests too deeply'
  if (reason !== undefined) return code === 'LIMIT' ? reason : `${reason} (${code})`
  const sentence = sentences[code]
  return sentence === undefined ? `JSONata error ${code}` : `${sentence(fault)} (${code})`
}

const called = ({ token }: Fault): string => (token === '' ? 'a function' : `$${token}`)
const typeOfValue = ({ value }: Fault): string => typeOf(value)
const both = ({ value, value2 }: Fault): string => `${typeOf(value)} and ${typeOf(value2)}`
const argument = ({ index }: Fault): string => (index === undefined ? 'an argument' : `argument ${index}`)

const formatPicture = 'a picture of $formatNumber cannot be read'

type Sentences = Readonly<Record<string, (fault: Fault) => string>>

const sentences: Sentences = {
  D1001: () => 'a number is too large',
  D1002: (fault) => `- takes a number, and was given ${typeOfValue(fault)}`,
  D1004: () => 'a regular expression matches where there is nothing, again and again',
  D1009: () => 'two fields of an object have the same name',
  D1011: () => 'its calls nest more than 2000 deep, or it groups by about as many names',
  D1012: () => 'it takes more than a second of processor time',
  D1013: () => 'a field may not be named _jsonata_…',
  D2014: () => 'a list of that length is not made',
  D2015: () => 'it makes a list that is too long: 10000 elements at most',
  D3001: () => 'a number is not finite and cannot be written as text',
  D3010: () => '$replace cannot look for an empty text',
  D3011: () => 'the limit of $replace is a number of 0 or more',
  D3012: (fault) => `$replace puts in text, and was given ${typeOfValue(fault)}`,
  D3020: () => 'the limit of $split is a number of 0 or more',
  D3030: (fault) => `${typeOfValue(fault)} cannot be read as a number`,
  D3040: () => 'the limit of $match is a number of 0 or more',
  D3050: () => '$reduce takes a function of two values or more',
  D3060: () => '$sqrt takes no negative number',
  D3061: () => '$power gives a number that is too large',
  D3070: () => '$sort without a function takes a list of numbers or a list of texts',
  D3080: () => 'a picture of $formatNumber has more than two parts',
  ...alike('D3081 D3082 D3083 D3084 D3085 D3086 D3087 D3088 D3089 D3090 D3091 D3092 D3093', formatPicture),
  D3100: () => '$formatBase takes a base from 2 to 36',
  D3110: (fault) => `$toMillis without a picture takes an ISO 8601 time, and was given other ${bare(fault)}`,
  ...alike('D3130 D3131 D3132 D3133 D3134 D3135', 'a picture of a time or of an integer cannot be read'),
  D3136: () => 'the picture lacks parts that $toMillis needs, such as the month before the day',
  D3137: () => '$error was called',
  D3138: () => '$single found more than one',
  D3139: () => '$single found nothing',
  D3140: () => 'a text cannot be coded as a part of an address, or was not',
  D3141: () => 'an $assert did not hold',
  T0410: (fault) => `${called(fault)} does not take ${typeOfValue(fault)} as ${argument(fault)}`,
  T0411: (fault) =>
    `${called(fault)} does not take ${typeOfValue(fault)}, which stands for its missing ${argument(fault)}`,
  T0412: (fault) =>
    `${called(fault)} takes ${fault.type ?? 'a list of one kind'}, and was given ${inList(fault)}`,
  T1003: (fault) => `a field's name must be text, and is ${typeOfValue(fault)}`,
  T1005: ({ token }) => `${token} is no function; did you mean $${token}?`,
  T1006: () => 'what it calls is no function',
  T1007: ({ token }) => `${token} is no function; did you mean $${token}?`,
  T1008: () => 'what it calls is no function',
  T1010: () => 'a matching function must give match, start, end, groups and next',
  T2001: (fault) => `the left side of ${fault.token} must be a number, and is ${typeOfValue(fault)}`,
  T2002: (fault) => `the right side of ${fault.token} must be a number, and is ${typeOfValue(fault)}`,
  T2003: (fault) => `the left side of .. must be a whole number, and is ${typeOfValue(fault)}`,
  T2004: (fault) => `the right side of .. must be a whole number, and is ${typeOfValue(fault)}`,
  T2006: (fault) => `the right side of ~> must be a function, and is ${typeOfValue(fault)}`,
  T2007: (fault) => `^(…) cannot order ${both(fault)}`,
  T2008: (fault) => `^(…) orders by numbers or texts, and was given ${typeOfValue(fault)}`,
  T2009: (fault) => `${fault.token} cannot compare ${both(fault)}`,
  T2010: (fault) => `${fault.token} compares numbers or texts, and was given ${typeOfValue(fault)}`,
  T2011: (fault) => `the second part of |…|…| must give an object, and gave ${typeOfValue(fault)}`,
  T2012: (fault) => `the third part of |…|…| must give names, and gave ${typeOfValue(fault)}`,
  T2013: () => '$clone must be a function, for |…|…| to copy with',
}

function alike(codes: string, sentence: string): Sentences {
  return Object.fromEntries(codes.split(' ').map((code) => [code, () => sentence]))
}

function bare(fault: Fault): string {
  return typeOfValue(fault).replace(/^an? /, '')
}

/** Names a list by the first element of the wrong type. */
function inList({ value, type }: Fault): string {
  if (!Array.isArray(value)) return typeOf(value)
  const elementType = { numbers: 'number', strings: 'string', booleans: 'boolean', objects: 'object' }[
    type ?? ''
  ]
  const stray = value.find(
    (element) => typeof element !== elementType || element === null || Array.isArray(element),
  )
  return `a list with ${typeOf(stray)} in it`
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
