/**
 * Reads the key by which a sender marks two requests as the same: from the header `Idempotency-Key`, from OpenClaw's
 * header, or from a field of the body of a built-in endpoint.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */

import { createHash } from 'node:crypto'
import type { Dedupe, HookRequest } from '../model/decision.ts'
import { RefusalError } from '../model/refusal.ts'

/** The first of these headers that is present counts. */
const headerNames = [
  ['Idempotency-Key', 'idempotency-key'],
  ['X-OpenClaw-Idempotency-Key', 'x-openclaw-idempotency-key'],
] as const
/** A String of RFC 9651 (3.3.3): printable ASCII, in which `"` and `\` have a `\` before them. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** The form that most senders use. A value that begins with a quote was meant to be a String. */
const bare = /^[\x20\x21\x23-\x7e][\x20-\x7e]*$/
const maxLength = 255

interface GivenKey {
  readonly key: string
  /** The place of the key, in the form of a request's value: `headers.idempotency-key`. */
  readonly path: string
}

/**
 * Returns the key in the headers without its quotes, or undefined if there is none.
 * @throws RefusalError `INVALID_FIELD`
 */
export function keyInHeaders(headers: HookRequest['headers']): GivenKey | undefined {
  for (const [name, field] of headerNames) {
    const value = headers[field]
    if (value === undefined) continue
    const key = typeof value === 'string' ? keyIn(value.trim()) : undefined
    if (key !== undefined && key.trim() !== '' && key.length <= maxLength)
      return { key, path: `headers.${field}` }
    throw new RefusalError(
      'INVALID_FIELD',
      `the header \`${name}\` must be one key of 1 to ${maxLength} printable ASCII characters, bare or in double quotes`,
    )
  }
  return undefined
}

/**
 * Returns the trimmed field `idempotencyKey` of a body, or undefined if it is absent or null.
 * @throws RefusalError `INVALID_FIELD`
 */
export function keyInBody({ idempotencyKey: given }: Readonly<Record<string, unknown>>): string | undefined {
  if (given === undefined || given === null) return undefined
  const key = typeof given === 'string' ? given.trim() : ''
  if (key !== '' && key.length <= maxLength) return key
  const message = `must be a text of 1 to ${maxLength} characters`
  throw new RefusalError('INVALID_FIELD', `idempotencyKey ${message}`, [
    { pointer: '/idempotencyKey', message },
  ])
}

/** Returns the dedupe entry for a key that the sender chose. Another body under the same key is a conflict. */
export function givenDedupe(key: string, windowMs: number): Dedupe {
  return { key, windowMs, isGiven: true }
}

/** The limit in UTF-16 units. Keys are indexed and shown, while payloads may have texts of any length. */
const maxKeyLength = 512
const shownOfLonger = 64

/**
 * Returns the key. If it is too long, or cannot be written in UTF-8, returns its beginning and its SHA-256, so that two
 * different keys stay different.
 */
export function boundedKey(key: string): string {
  if (key.length <= maxKeyLength && key.isWellFormed()) return key
  // The digest is of UTF-16 units, because UTF-8 would write the same character for any lone surrogate.
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex')
  return `${key.slice(0, shownOfLonger).toWellFormed()}… sha256:${digest}`
}

/** The default, and the minimum, of how long a key is remembered. */
export const dayMs = 86_400_000

function keyIn(text: string): string | undefined {
  const inner = quoted.exec(text)?.[1]
  if (inner !== undefined) return inner.replace(/\\(["\\])/g, '$1')
  return bare.test(text) ? text : undefined
}
