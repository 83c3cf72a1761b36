/**
 * Owns the header `Idempotency-Key`, by which a sender says that two requests are one:
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */

import type { HookRequest } from './decision.ts'
import { RefusalError } from './refusal.ts'

const header = 'idempotency-key'
/** A String of RFC 9651 (3.3.3): printable ASCII, in which `"` and `\` have a `\` before them. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** As most senders write it. What begins with a quote was meant to be a String. */
const bare = /^[\x20\x21\x23-\x7e][\x20-\x7e]*$/
const longest = 255

/**
 * The key, without its quotes; undefined where the header is not there.
 * @throws RefusalError `INVALID_FIELD`
 */
export function idempotencyKeyOf({ [header]: given }: HookRequest['headers']): string | undefined {
  if (given === undefined) return undefined
  const key = typeof given === 'string' ? keyIn(given.trim()) : undefined
  if (key !== undefined && key.trim() !== '' && key.length <= longest) return key
  throw new RefusalError(
    'INVALID_FIELD',
    `the header \`Idempotency-Key\` must be one key of 1 to ${longest} printable ASCII characters, bare or in double quotes`,
  )
}

function keyIn(text: string): string | undefined {
  const inner = quoted.exec(text)?.[1]
  if (inner !== undefined) return inner.replace(/\\(["\\])/g, '$1')
  return bare.test(text) ? text : undefined
}
