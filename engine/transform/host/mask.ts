/**
 * Hides known secrets in what modules print and throw. A secret that any configuration gave since the host was made
 * stays hidden: a late call may still know the one of yesterday.
 */

import { shortestHidden } from '../../config/secret.ts'
import type { ErrorReport, FromWorker } from '../worker/protocol.ts'

export interface Mask {
  /** Secrets of fewer than eight characters are ignored, because they would hide words of every text. */
  add(secrets: Iterable<string>): void
  text(text: string): string
  /** The same message without secrets in its text or error. */
  message(message: FromWorker): FromWorker
}

const hidden = '[redacted]'
/** The number of forms of secrets that are kept; the oldest are forgotten first. */
const mostForms = 5_000

export function createMask(): Mask {
  const known = new Set<string>()
  /** Longer ones come first, because a secret may be part of another one. */
  let longestFirst: readonly string[] = []

  function add(secrets: Iterable<string>): void {
    const before = known.size
    for (const secret of secrets) for (const form of formsOf(secret)) known.add(form)
    if (known.size === before) return
    for (const form of known) if (known.size > mostForms) known.delete(form)
    longestFirst = [...known].sort((one, other) => other.length - one.length)
  }

  function text(original: string): string {
    let masked = original
    for (const form of longestFirst) if (masked.includes(form)) masked = masked.replaceAll(form, hidden)
    return withoutCutSecret(masked)
  }

  /** The worker has cut texts that are too long, perhaps within a secret. */
  function withoutCutSecret(text: string): string {
    const whole = text.endsWith('…') ? text.slice(0, -1) : text
    for (const form of longestFirst) {
      const from = Math.max(0, whole.length - form.length)
      const found = whole.slice(from).lastIndexOf(form.slice(0, shortestHidden))
      const start = from + found
      if (found === -1 || !form.startsWith(whole.slice(start))) continue
      return `${whole.slice(0, start)}${hidden}${text.slice(whole.length)}`
    }
    return text
  }

  function error({ text: line, stack, stoppedAt, ...rest }: ErrorReport): ErrorReport {
    return {
      ...rest,
      text: text(line),
      ...(stack !== undefined && { stack: text(stack) }),
      ...(stoppedAt !== undefined && { stoppedAt: text(stoppedAt) }),
    }
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

/** The forms of each line of a secret, since output comes in lines: plain, as in a URL, and as in JSON. */
function formsOf(secret: string): string[] {
  return secret
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .flatMap((line) => [line, encodeURIComponent(line.toWellFormed()), JSON.stringify(line).slice(1, -1)])
    .filter(({ length }) => length >= shortestHidden)
}
