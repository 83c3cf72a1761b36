/** Owns a request file that is JSON: one request or a list of them, in the shape of a published signature vector. */

import { findJsonFault } from '@reveille/engine'
import { RequestFault } from './fault.ts'
import { addHeader, createHead, type Head } from './head.ts'
import type { FiledRequest } from './request.ts'
import { timeOf } from './time.ts'

type Fields = Readonly<Record<string, unknown>>

const mostRequests = 1000

/** @throws RequestFault */
export function readJsonRequests(text: string): readonly FiledRequest[] {
  const value = parse(text)
  const list = Array.isArray(value) ? value : [value]
  if (list.length === 0) throw new RequestFault(1, 1, 'The list holds no request.')
  if (list.length > mostRequests) throw new RequestFault(1, 1, 'The list holds more than 1,000 requests.')
  return list.map((each, index) => readOne(each, Array.isArray(value) ? `[${index}]` : ''))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // The parser's own message quotes the text.
    if (cause instanceof SyntaxError)
      throw RequestFault.at(findJsonFault(text), text, 'This is not valid JSON.')
    throw cause
  }
}

function readOne(value: unknown, place: string): FiledRequest {
  const outer = fieldsOf(value, place || 'The request')
  const isNested = outer['request'] !== undefined
  const where = isNested ? `${place}.request` : place
  const fields = isNested ? fieldsOf(outer['request'], where) : outer
  if (!parts.some((name) => fields[name] !== undefined)) throw fault(where, noRequest)
  const url = textAt(fields, 'url', where)
  const isWhole = url !== undefined && /^https?:\/\//i.test(url)
  const label = textAt(outer, 'id', place) ?? textAt(outer, 'name', place)
  const now = readNow(outer['now'] ?? fields['now'], place)
  return {
    ...(label !== undefined && { label }),
    method: (textAt(fields, 'method', where) ?? 'POST').toUpperCase(),
    target: textAt(fields, 'target', where) ?? (url === undefined ? undefined : targetOf(url)),
    ...(isWhole && { url }),
    headers: readHeaders(fields['headers'], where),
    ...readBody(fields, where),
    ...(now !== undefined && { now }),
  }
}

/** Path and query, as written. */
export function targetOf(url: string): string {
  const [, target = ''] = /^(?:[a-z]+:\/\/[^/?#]*)?([^#]*)/i.exec(url) ?? []
  return target.startsWith('/') ? target : `/${target}`
}

function readHeaders(value: unknown, place: string): Head {
  const head = createHead()
  if (value === undefined) return head
  for (const [name, given] of Object.entries(fieldsOf(value, `${place}.headers`))) {
    // A name may be a value that was put in the wrong place, so it is not quoted.
    const values = Array.isArray(given) ? given : [given]
    const isText = values.every((each) => typeof each === 'string' || typeof each === 'number')
    if (!isText || !values.every((each) => addHeader(head, name, String(each).trim())))
      throw fault(`${place}.headers`, 'holds a header that is not a name with a text, or a list of texts')
  }
  return head
}

/** Somebody gave the body by itself, most likely. */
const noRequest = 'holds nothing of a request: write {"headers": {…}, "rawBody": "…"}'

const bodies = ['rawBodyBase64', 'rawBody', 'body']
const parts = ['method', 'url', 'target', 'headers', 'now', ...bodies]

function readBody(fields: Fields, place: string): Pick<FiledRequest, 'rawBody' | 'isBodyWrittenAnew'> {
  const [name, second] = bodies.filter((each) => fields[each] !== undefined)
  if (name === undefined) return { rawBody: new Uint8Array() }
  if (second !== undefined) throw fault(`${place}.${second}`, `stands beside ${name}: a request has one body`)
  if (name === 'body' && typeof fields[name] !== 'string')
    return { rawBody: Buffer.from(JSON.stringify(fields[name])), isBodyWrittenAnew: true }
  const text = textAt(fields, name, place) ?? ''
  if (name !== 'rawBodyBase64') return { rawBody: Buffer.from(text) }
  if (!/^[\w+/\s-]*={0,2}\s*$/.test(text)) throw fault(`${place}.${name}`, 'is no base64')
  return { rawBody: Buffer.from(text, 'base64') }
}

function readNow(value: unknown, place: string): number | undefined {
  if (value === undefined) return undefined
  const now = timeOf(value)
  if (now === undefined)
    throw fault(`${place}.now`, 'is no time: write 2026-01-31T12:00:00Z, or Unix seconds')
  return now
}

function fieldsOf(value: unknown, place: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw fault(place, 'must be an object')
}

function textAt(fields: Fields, name: string, place: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw fault(`${place}.${name}`, 'must be a text')
}

/** What is valid JSON is placed by its path. */
function fault(place: string, message: string): RequestFault {
  return new RequestFault(1, 1, `${place.replace(/^\./, '') || 'The file'} ${message}.`)
}
