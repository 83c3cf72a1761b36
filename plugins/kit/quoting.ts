/** Owns quoting a vendor's words to an operator: without our secrets, and as one line. */

export type Redact = (text: string) => string

/** Shorter secrets would blot out half of every line, and are no secrets. Characters. */
const shortestSecret = 4

/**
 * Takes the secrets out of a text: as they are, as a URL encodes them, and as they stand in an inspected object. Those
 * of fewer than four characters stay.
 */
export function compileRedaction(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ])
  const texts = [...new Set(forms)].filter((text) => text.length >= shortestSecret)
  // A secret may be part of another one.
  texts.sort((left, right) => right.length - left.length)
  return (text) => texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** At most `limit` UTF-16 units, whole characters, with a mark where something is missing. */
export function oneLine(text: string, limit: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line.length <= limit) return line
  const start = line.slice(0, limit - 1)
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`
}
