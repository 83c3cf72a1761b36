/** Warnings about what senders do: at most one a minute for each endpoint and kind. */

import type { FieldError } from '@reveille/engine'
import type { Exchange } from '../exchange.ts'
import type { HookLog } from '../log.ts'

export interface SenderWarnings {
  /** The token came in the address. */
  ofQueryToken(exchange: Exchange): void
  /** A token was right that is not the newest of its list. `index`: from 0. */
  ofOldToken(exchange: Exchange, list: string, index: number): void
  /** The same of a secret. */
  ofOldSecret(exchange: Exchange, list: string, index: number): void
  /**
   * The body has fields that have no effect. Their names are the sender's and stand in its answer alone; the log says how
   * many there are, and what was probably meant.
   */
  ofUnknownFields(exchange: Exchange, fields: readonly FieldError[]): void
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

  /** `event` stands where it is used whole, so that whoever reads a log finds it by its name. */
  function ofOld(kind: 'token' | 'secret', event: string): SenderWarnings['ofOldToken'] {
    const hint = `Give this sender the newest ${kind}; once nobody uses the old one, take it out of the list.`
    return ({ endpoint = '', client }, list, index) => {
      if (!isDue(kind, endpoint)) return
      log.warn({ event, endpoint, list, position: index + 1, client, hint })
    }
  }

  return {
    ofQueryToken({ endpoint = '' }) {
      if (!isDue('query', endpoint)) return
      const hint = 'Send the token as "Authorization: Bearer"; addresses end up in the logs of proxies.'
      log.warn({ event: 'query-token-used', endpoint, hint })
    },
    ofOldToken: ofOld('token', 'old-token-used'),
    ofOldSecret: ofOld('secret', 'old-secret-used'),
    ofUnknownFields({ endpoint = '', client, requestId }, fields) {
      if (!isDue('fields', endpoint)) return
      const problems = [...new Set(fields.map(({ message }) => message))]
      log.warn({ event: 'unknown-fields', requestId, endpoint, client, fields: fields.length, problems })
    },
  }
}
