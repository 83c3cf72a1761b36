/**
 * Defines handshakes: requests by which a provider checks that an address answers, each with the answer that the
 * provider expects. Texts that are echoed are short, and harmless wherever a browser may show them.
 */

import { isRecord } from '../../config/values/is-record.ts'
import type { Headers } from '../verifier.ts'

export interface HandshakeRequest {
  readonly method: string
  /** The names are in lower case. */
  readonly headers: Headers
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body; undefined where there is none, or it is not JSON. */
  readonly payload: unknown
  /** True if the request was authenticated by a signature or a token. */
  readonly isTrusted: boolean
}

export interface Handshake {
  readonly status: number
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** One sentence for the log and the record; it quotes nothing. */
  readonly reason: string
  /** An address that has to be fetched once, after the answer. */
  readonly confirm?: string
  /** A value that only the operator may see, and the name to store it under. */
  readonly issuedSecret?: { readonly name: string; readonly value: string }
}

export interface Handshakes {
  /** The methods besides POST that a handshake may come with. Absent: none. */
  readonly methods?: readonly string[]
  /** True if an unauthenticated POST may be a handshake. Its body is then read, up to a small limit. */
  readonly unsigned?: boolean
  /** Returns undefined where the request is not a handshake. */
  answer(request: HandshakeRequest): Handshake | undefined
}

/** Maximum length of an echoed string, in UTF-16 units. */
const maxEchoLength = 4096

/** True if the value is a text that may be sent back. */
export function isEcho(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxEchoLength
}

/** True if the value can be a secret that a provider hands out: it goes into a header and into a file. */
export function isIssuedSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{8,256}$/.test(value)
}

/** Returns the own field of that name if the payload is an object, or undefined. */
export function fieldOf(payload: unknown, name: string): unknown {
  return isRecord(payload) && Object.hasOwn(payload, name) ? payload[name] : undefined
}

/** Returns the same if the object has no other field. */
export function onlyFieldOf(payload: unknown, name: string): unknown {
  return isRecord(payload) && Object.keys(payload).length === 1 ? fieldOf(payload, name) : undefined
}

/** Returns the value of a header or query parameter that came exactly once. */
export function oneText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Keeps browsers from taking an answer for anything but what its type says. */
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
