/**
 * The key by which a sender says that two requests are one: the header `Idempotency-Key`, OpenClaw's name for it, or a
 * field of the body of a built-in endpoint. https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */

import type { Dedupe, HookRequest } from '../decision.ts'
import { RefusalError } from '../refusal.ts'

/** The first that is there counts. */
const headerNames = [
  ['Idempotency-Key', 'idempotency-key'],
  ['X-OpenClaw-Idempotency-Key', 'x-openclaw-idempotency-key'],
] as const
/** A String of RFC 9651 (3.3.3): printable ASCII, in which `"` and `\` have a `\` before them. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** As most senders write it. What begins with a quote was meant to be a String. */
const bare = /^[\x20\x21\x23-\x7e][\x20-\x7e]*$/
const longest = 255

interface GivenKey {
  readonly key: string
  /** Where it was given, as values of the request are called: `headers.idempotency-key`. */
  readonly path: string
}

/**
 * The key of the headers, without its quotes; undefined where there is none.
 * @throws RefusalError `INVALID_FIELD`
 */
export function keyInHeaders(headers: HookRequest['headers']): GivenKey | undefined {
  for (const [name, field] of headerNames) {
    const given = headers[field]
    if (given === undefined) continue
    const key = typeof given === 'string' ? keyIn(given.trim()) : undefined
    if (key !== undefined && key.trim() !== '' && key.length <= longest)
      return { key, path: `headers.${field}` }
    throw new RefusalError(
      'INVALID_FIELD',
      `the header \`${name}\` must be one key of 1 to ${longest} printable ASCII characters, bare or in double quotes`,
    )
  }
  return undefined
}

/**
 * The field `idempotencyKey` of a body, without blanks at its ends; undefined where it is absent or null.
 * @throws RefusalError `INVALID_FIELD`
 */
export function keyInBody({ idempotencyKey: given }: Readonly<Record<string, unknown>>): string | undefined {
  if (given === undefined || given === null) return undefined
  const key = typeof given === 'string' ? given.trim() : ''
  if (key !== '' && key.length <= longest) return key
  const message = `must be a text of 1 to ${longest} characters`
  throw new RefusalError('INVALID_FIELD', `idempotencyKey ${message}`, [
    { pointer: '/idempotencyKey', message },
  ])
}

/** What a key that the sender chose says: another body under it is a conflict. */
export function givenDedupe(key: string, windowMs: number): Dedupe {
  return { key, windowMs, isGiven: true }
}

function keyIn(text: string): string | undefined {
  const inner = quoted.exec(text)?.[1]
  if (inner !== undefined) return inner.replace(/\\(["\\])/g, '$1')
  return bare.test(text) ? text : undefined
}
