/** Owns that a plugin's secrets stay out of what it logs and of the errors that the host makes of its failures. */

import { inspect } from 'node:util'
import { isPluginError, PluginError, type Receipt, type Redact } from '@reveille/kit'

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

/** A receipt is kept and shown, and what stands in it are a service's words. */
export function redactReceipt(receipt: Receipt, redact: Redact): Receipt {
  return redactTexts(receipt, redact, deepestReceipt) as Receipt
}

/** Objects in each other. What is deeper is no data of a receipt's. */
const deepestReceipt = 6

function redactTexts(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return undefined
  const inner = (each: unknown) => redactTexts(each, redact, depth - 1)
  if (Array.isArray(value)) return value.map(inner)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each)]))
}
