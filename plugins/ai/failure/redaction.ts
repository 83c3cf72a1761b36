/** Owns what of a vendor's words an operator may see: nothing that looks like a credential. */

import { compileRedaction, type Redact } from '@reveille/kit'

/** Vendors quote the beginning of a wrong key. Characters. */
const tellingStart = 8

/** Keys by their makers' prefixes, what follows `Bearer`, and what a vendor has starred out only in part. */
const credentials = [
  /\b(?:sk|rk|pk|gsk|xai|ant|pplx|hf)[-_][\w*.\u2026-]{4,}/g,
  /\bAIza[\w*.\u2026-]{4,}/g,
  /(?<=\bBearer\s)\S+/gi,
  /[^\s"'`]*\*{3,}[^\s"'`]*/g,
]

export function compileCredentialRedaction(secrets: readonly string[]): Redact {
  const redact = compileRedaction(secrets)
  const starts = secrets
    .filter((secret) => secret.length > tellingStart)
    .map((secret) => secret.slice(0, tellingStart))
  return (text) => {
    const words = redact(text).replaceAll(/\S+/g, (word) =>
      starts.some((start) => word.includes(start)) ? '[redacted]' : word,
    )
    return credentials.reduce((left, pattern) => left.replaceAll(pattern, '[redacted]'), words)
  }
}
