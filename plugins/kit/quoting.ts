/** Quotes a vendor's words to an operator, without secrets and as one line. */

export type Redact = (text: string) => string

/** Minimum length of a secret. A shorter one would redact half of every line, and is not a secret. */
const minSecretLength = 4

/**
 * Creates a function that removes secrets from a text: as they are, URL-encoded, and as JSON writes them. Secrets of fewer
 * than four characters stay.
 */
export function compileRedaction(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ])
  const texts = [...new Set(forms)].filter((text) => text.length >= minSecretLength)
  // Longer secrets are replaced first, since a secret may be part of another one.
  texts.sort((left, right) => right.length - left.length)
  return (text) => texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** Returns a text as one line of at most `limit` UTF-16 units, with an ellipsis if it was cut. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= limit) return line
  const start = line.slice(0, limit - 1)
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`
}
