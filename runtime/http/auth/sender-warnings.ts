/** Owns warnings about what senders still use: at most one a minute for each endpoint and kind. */

import type { Exchange } from '../exchange.ts'
import type { HookLog } from '../log.ts'

export interface SenderWarnings {
  /** The token came in the address. */
  ofQueryToken(exchange: Exchange): void
  /** A token was right that is not the newest of its list. `index`: from 0. */
  ofOldToken(exchange: Exchange, list: string, index: number): void
  /** The same of a secret. */
  ofOldSecret(exchange: Exchange, list: string, index: number): void
}

const quietMs = 60_000
/** A catch-all mapping makes any name an endpoint; past this many, all are forgotten and warned of anew. */
const maxRemembered = 1000

export function createSenderWarnings(log: HookLog, now: () => number): SenderWarnings {
  const warnedAt = new Map<string, number>()

  function isDue(kind: string, endpoint: string): boolean {
    const key = `${kind} ${endpoint}`
    const last = warnedAt.get(key)
    if (last !== undefined && now() - last < quietMs) return false
    if (warnedAt.size >= maxRemembered) warnedAt.clear()
    warnedAt.set(key, now())
    return true
  }

  return {
    ofQueryToken({ endpoint = '' }) {
      if (!isDue('query', endpoint)) return
      const hint = 'Send the token as "Authorization: Bearer"; addresses end up in the logs of proxies.'
      log.warn({ event: 'query-token-used', endpoint, hint })
    },
    ofOldToken({ endpoint = '', client }, list, index) {
      if (!isDue('token', endpoint)) return
      log.warn({
        event: 'old-token-used',
        endpoint,
        list,
        position: index + 1,
        client,
        hint: hintFor('token'),
      })
    },
    ofOldSecret({ endpoint = '', client }, list, index) {
      if (!isDue('secret', endpoint)) return
      log.warn({
        event: 'old-secret-used',
        endpoint,
        list,
        position: index + 1,
        client,
        hint: hintFor('secret'),
      })
    },
  }
}

function hintFor(kind: string): string {
  return `Give this sender the newest ${kind}; once nobody uses the old one, take it out of the list.`
}
