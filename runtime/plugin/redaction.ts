/** Owns that a plugin's secrets stay out of what it logs and of the errors that the host makes of its failures. */

import { inspect } from 'node:util'
import { isPluginError, PluginError } from '@reveille/kit'

/** Shorter secrets would blot out half of every line, and are no secrets. */
const shortest = 4

/** What is written where a service wants some credential and looks at none. */
const placeholder = 'none'

export type Redact = (text: string) => string

export function compileRedaction(secrets: readonly string[]): Redact {
  // In a URL a secret is met in its encoded form, in an inspected object in its quoted one.
  const worthHiding = secrets.filter((secret) => secret !== placeholder)
  const forms = worthHiding.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ])
  const texts = [...new Set(forms)].filter((text) => text.length >= shortest)
  texts.sort((left, right) => right.length - left.length)
  return (text) => texts.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** What a line may hold of a fact: numbers and flags as they are, all else as redacted text. */
export function redactFact(fact: unknown, redact: Redact): unknown {
  if (fact === null || fact === undefined || typeof fact === 'number' || typeof fact === 'boolean')
    return fact
  return redact(typeof fact === 'string' ? fact : inspect(fact, { depth: 4, breakLength: Infinity }))
}

/** The error as it was if it shows no secret; else one that says the same without it, and means the same. */
export function redactError(error: unknown, redact: Redact): unknown {
  const whole = inspect(error, { depth: 10 })
  if (redact(whole) === whole) return error
  if (isPluginError(error)) {
    const { retryable, retryAfter, maybeDelivered } = error
    const meaning = { retryable, maybeDelivered, ...(retryAfter !== undefined && { retryAfter }) }
    return new PluginError(redact(error.message), { code: redact(String(error.code)), ...meaning })
  }
  const copy = new Error(redact(error instanceof Error ? error.message : String(error)))
  copy.name = error instanceof Error ? error.name : 'Error'
  copy.stack = redact(error instanceof Error ? (error.stack ?? '') : whole)
  return copy
}
