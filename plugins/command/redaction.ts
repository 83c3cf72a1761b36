/** Owns that what a program prints on its way down shows no value that it was given in confidence. */

export type Redact = (text: string) => string

/** Shorter values are flags and numbers; taking them out would leave no sentence whole. */
const shortest = 6

export function compileRedaction(secrets: readonly string[]): Redact {
  const texts = [...new Set(secrets)].filter((secret) => secret.length >= shortest)
  texts.sort((left, right) => right.length - left.length)
  return (text) => texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
