/** Owns how handshakes answer: texts that are echoed are short, and harmless wherever a browser may show them. */

import { isRecord } from '../../config/is-record.ts'
import type { Handshake } from './handshake.ts'

/** Of a text that is sent back, in UTF-16 units. */
const longestEcho = 4096

/** A text that may be sent back. */
export function isEcho(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestEcho
}

/** What a payload that is an object holds under the name itself. */
export function fieldOf(payload: unknown, name: string): unknown {
  return isRecord(payload) && Object.hasOwn(payload, name) ? payload[name] : undefined
}

/** The same where the object holds nothing else. */
export function onlyFieldOf(payload: unknown, name: string): unknown {
  return isRecord(payload) && Object.keys(payload).length === 1 ? fieldOf(payload, name) : undefined
}

/** A header or a parameter of the query that came once. */
export function oneText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** No browser takes these for anything but what they are said to be. */
const unsniffed = { 'x-content-type-options': 'nosniff' }

export function plainAnswer(body: string, reason: string): Handshake {
  return { status: 200, contentType: 'text/plain; charset=utf-8', headers: unsniffed, body, reason }
}

export function jsonAnswer(value: object, reason: string): Handshake {
  const body = JSON.stringify(value)
  return { status: 200, contentType: 'application/json; charset=utf-8', headers: unsniffed, body, reason }
}

export function emptyAnswer(status: 200 | 204 | 403, reason: string): Handshake {
  return { status, body: '', reason }
}
