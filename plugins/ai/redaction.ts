/** Owns what of a vendor's words an operator may see: one short line, without anything that looks like a credential. */

export type Tidy = (text: string) => string

/** Shorter ones would blot out ordinary words. */
const shortestSecret = 4
/** Vendors quote the beginning of a wrong key. Characters. */
const tellingStart = 8

/** Keys by their makers' prefixes, what follows `Bearer`, and what a vendor has starred out only in part. */
const credentials = [
  /\b(?:sk|rk|pk|gsk|xai|ant|pplx|hf)[-_][\w*.…-]{4,}/g,
  /\bAIza[\w*.…-]{4,}/g,
  /(?<=\bBearer\s)\S+/gi,
  /[^\s"'`]*\*{3,}[^\s"'`]*/g,
]

export function compileTidy(secrets: readonly string[]): Tidy {
  const texts = secrets.filter((secret) => secret.length >= shortestSecret)
  texts.sort((left, right) => right.length - left.length)
  const starts = texts.filter((text) => text.length > tellingStart).map((text) => text.slice(0, tellingStart))
  return (text) => {
    let rest = texts.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
    rest = rest.replaceAll(/\S+/g, (word) =>
      starts.some((start) => word.includes(start)) ? '[redacted]' : word,
    )
    rest = credentials.reduce((left, pattern) => left.replaceAll(pattern, '[redacted]'), rest)
    return rest.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  }
}

/** At most `limit` UTF-16 units, whole characters, with a mark where something is missing. */
export function shorten(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
}
