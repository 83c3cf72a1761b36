/** Decodes bytes that are written as text, strictly: what the platform's decoders guess at is refused. */

import type { Encoding } from './scheme.ts'

/** No signature is longer: one of RSA with 8,192 bits takes 2,048 characters in hex. */
const maxTextLength = 4096

/** Accepts hex of either case, and base64 that encodes to the same text again. Returns undefined for any other text. */
export function decode(text: string, encoding: Encoding): Buffer | undefined {
  if (text === '' || text.length > maxTextLength) return undefined
  const bytes = Buffer.from(text, encoding)
  if (encoding === 'hex') return bytes.length * 2 === text.length ? bytes : undefined
  const written = encoding === 'base64url' ? withoutPadding(text) : text
  return bytes.toString(encoding) === written ? bytes : undefined
}

export function withoutPadding(text: string): string {
  if (text.endsWith('==')) return text.slice(0, -2)
  return text.endsWith('=') ? text.slice(0, -1) : text
}
