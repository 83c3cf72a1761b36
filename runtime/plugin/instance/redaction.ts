/** Keeps the secrets of a plugin out of its log lines, its receipts and its errors. */

import { inspect } from 'node:util'
import { isPluginError, PluginError, type PluginLog, type Receipt, type Redact } from '@reveille/kit'
import type { Logger } from 'pino'
import { redact as redactData } from '../../redact.ts'

/** Numbers and flags are logged as they are, and everything else as redacted text. */
function redactFact(fact: unknown, redact: Redact): unknown {
  if (fact === null || fact === undefined || typeof fact === 'number' || typeof fact === 'boolean')
    return fact
  return redact(typeof fact === 'string' ? fact : inspect(fact, { depth: 4, breakLength: Infinity }))
}

/** Returns the error itself if it shows no secret, and otherwise a copy without it. */
export function redactError(error: unknown, redact: Redact): unknown {
  const whole = inspect(error, { depth: 10 })
  if (redact(whole) === whole) return error
  if (isPluginError(error)) {
    const { retryable, retryAfter, maybeDelivered, wholeService } = error
    const meaning = {
      retryable,
      maybeDelivered,
      wholeService,
      ...(retryAfter !== undefined && { retryAfter }),
    }
    return new PluginError(redact(error.message), { code: redact(String(error.code)), ...meaning })
  }
  const copy = new Error(redact(error instanceof Error ? error.message : String(error)))
  copy.name = error instanceof Error ? error.name : 'Error'
  copy.stack = redact(error instanceof Error ? (error.stack ?? '') : whole)
  return copy
}

/** Maximum nesting of a receipt's objects; deeper ones are dropped. */
const maxReceiptDepth = 6

/** A receipt is kept and shown, and its texts come from a service. */
export function redactReceipt(receipt: Receipt, redact: Redact): Receipt {
  return redactData(receipt, redact, maxReceiptDepth)
}

/** Creates the log of a plugin. `owner` is in every line. It is no child logger, because a child keeps the level that it began with. */
export function createPluginLog(
  log: Logger,
  owner: Readonly<Record<string, string>>,
  redact: Redact,
): PluginLog {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (event: string, facts: Record<string, unknown> = {}) => {
      const safe = Object.entries(facts).map(([name, fact]) => [redact(name), redactFact(fact, redact)])
      log[level]({ ...Object.fromEntries(safe), ...owner, event: redact(event) })
    }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}
