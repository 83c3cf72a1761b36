/** Makes what a product says comparable between two runs: ids, times, ports and folders get names. */

import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'

export type Json = Record<string, unknown>

/** Texts that stand for themselves in one run only, such as ids of records, and their names. */
export type Names = ReadonlyMap<string, string>

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
/** Of the boundary around what came from outside, in a text and in JSON. */
const fence = /outside-data id=\\*"([^"\\]+)/g
const times: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, '<time>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, '<time>'],
  [/\b\d\d:\d\d:\d\d\b/g, '<time>'],
]
const folder = new RegExp(`${tmpdir()}/reveille-recording-\\w+`, 'g')
/** Keys of measured or random values, which differ each time. */
const varying = /(Ms|At|Digest|^(at|digest|since|until|first|last|pid|version|nonce|revision))$/

/** Larger numbers are milliseconds since 1970. */
const earliest = Date.UTC(2026)

/** Replaces every id, time, address and folder in a JSON value. The ids get numbers in the order in which they appear. */
export function steady<Value>(value: Value, names: Names = new Map()): Value {
  if (value === undefined) return value
  return JSON.parse(steadyText(JSON.stringify(value, withoutVarying), names))
}

/** The same for a text. */
export function steadyText(text: string, names: Names = new Map()): string {
  let result = text
  for (const [known, name] of names) result = result.replaceAll(known, `<${name}>`)
  const ids = new Map<string, string>()
  const nameOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `<id-${ids.size + 1}>`)
    return ids.get(id) as string
  }
  for (const [, id = ''] of [...result.matchAll(fence)]) result = result.replaceAll(id, nameOf(id))
  result = result.replace(new RegExp(uuid, 'g'), nameOf)
  for (const [pattern, name] of times) result = result.replace(pattern, name)
  result = result.replace(folder, '<folder>')
  return result.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
}

function withoutVarying(key: string, value: unknown): unknown {
  if (key === 'timings') return '<timings>'
  const isDrawn = varying.test(key) && (typeof value === 'number' || typeof value === 'string')
  const isTime = typeof value === 'number' && value > earliest
  if (isDrawn || isTime) return `<${isTime ? 'time' : typeof value}>`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(sortedEntries(value))
}

/** The order of names in JSON is of no consequence. */
function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The names and types of a JSON value, those of a list's elements once. A list with gaps in time is one of numbers. */
export function shapeOf(value: unknown): unknown {
  const isSeries = Array.isArray(value) && value.every((each) => each === null || typeof each === 'number')
  if (isSeries && value.length > 0) return ['number']
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(sortedEntries(value).map(([key, each]) => [key, shapeOf(each)]))
}

/** The length of a text or of a value's JSON, and the beginning of its SHA-256; undefined for undefined. */
export function digestOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${text.length} ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
