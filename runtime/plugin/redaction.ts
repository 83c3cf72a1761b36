/** Owns that a plugin's secrets stay out of what it logs and of the errors that the host makes of its failures. */

import { inspect } from 'node:util'
import { isPluginError, PluginError, type Redact } from '@reveille/kit'

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
    const { retryable, retryAfter, maybeDelivered, wholeChannel } = error
    const meaning = {
      retryable,
      maybeDelivered,
      wholeChannel,
      ...(retryAfter !== undefined && { retryAfter }),
    }
    return new PluginError(redact(error.message), { code: redact(String(error.code)), ...meaning })
  }
  const copy = new Error(redact(error instanceof Error ? error.message : String(error)))
  copy.name = error instanceof Error ? error.name : 'Error'
  copy.stack = redact(error instanceof Error ? (error.stack ?? '') : whole)
  return copy
}
