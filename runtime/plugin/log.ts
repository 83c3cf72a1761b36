/** Owns the log that a plugin gets: its lines carry its name and none of its secrets. */

import type { PluginLog, Redact } from '@reveille/kit'
import type { Logger } from 'pino'
import { redactFact } from './redaction.ts'

/** `owner` stands in every line. No child logger, because a child keeps the level of the time when it was made. */
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
