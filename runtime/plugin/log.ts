/** Owns the log that a plugin gets: its lines carry its name and none of its secrets. */

import type { PluginLog } from '@reveille/kit'
import type { Logger } from 'pino'
import { type Redact, redactFact } from './redaction.ts'

export function createPluginLog(log: Logger, redact: Redact): PluginLog {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (event: string, facts: Record<string, unknown> = {}) => {
      const safe = Object.entries(facts).map(([name, fact]) => [redact(name), redactFact(fact, redact)])
      log[level]({ ...Object.fromEntries(safe), event: redact(event) })
    }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}
