/**
 * Hides known secrets in what modules print and throw. A secret that any configuration gave since the host was made
 * stays hidden: a late call may still know the one of yesterday.
 */

import type { FromWorker, ToldError } from '../worker/protocol.ts'

export interface Mask {
  /** Those of fewer than eight characters are passed over: they would hide words of every text. */
  add(secrets: Iterable<string>): void
  text(text: string): string
  /** The same message without secrets in its text or error. */
  message(message: FromWorker): FromWorker
}

const hidden = '[redacted]'
/** In UTF-16 units; of a secret that was cut off, too. */
const shortest = 8
/** Rotated secrets are kept up to here, the oldest forgotten first. */
const mostForms = 5_000

export function createMask(): Mask {
  const known = new Set<string>()
  /** A secret may be part of another one. */
  let longestFirst: readonly string[] = []

  function add(secrets: Iterable<string>): void {
    const before = known.size
    for (const secret of secrets) for (const form of formsOf(secret)) known.add(form)
    if (known.size === before) return
    for (const form of known) if (known.size > mostForms) known.delete(form)
    longestFirst = [...known].sort((one, other) => other.length - one.length)
  }

  function text(said: string): string {
    let masked = said
    for (const form of longestFirst) if (masked.includes(form)) masked = masked.replaceAll(form, hidden)
    return withoutCutSecret(masked)
  }

  /** What was too long has been cut in the worker, perhaps within a secret. */
  function withoutCutSecret(text: string): string {
    const whole = text.endsWith('…') ? text.slice(0, -1) : text
    for (const form of longestFirst) {
      const start = whole.lastIndexOf(form.slice(0, shortest))
      if (start === -1 || !form.startsWith(whole.slice(start))) continue
      return `${whole.slice(0, start)}${hidden}${text.slice(whole.length)}`
    }
    return text
  }

  function error({ text: told, stack, ...rest }: ToldError): ToldError {
    return { ...rest, text: text(told), ...(stack !== undefined && { stack: text(stack) }) }
  }

  return {
    add,
    text,
    message(message) {
      if (longestFirst.length === 0) return message
      if ('text' in message) return { ...message, text: text(message.text) }
      return 'error' in message ? { ...message, error: error(message.error) } : message
    },
  }
}

/** Line by line, since output is told so: as it is, as an address encodes it, and as JSON writes it. */
function formsOf(secret: string): string[] {
  return secret
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .flatMap((line) => [line, encodeURIComponent(line.toWellFormed()), JSON.stringify(line).slice(1, -1)])
    .filter(({ length }) => length >= shortest)
}
