/** Logs warnings about what senders do: at most one a minute for each endpoint and kind. */

import type { FieldError } from '@reveille/engine'
import type { HookLog } from '../log/request-log.ts'
import type { RequestContext, RequestFacts } from '../request-context.ts'
import type { FoundToken } from './endpoint-auth.ts'

export type SenderWarnings = ReturnType<typeof createSenderWarnings>

const quietMs = 60_000
/** A catch-all mapping makes any name an endpoint; past this many names, all are forgotten and may be warned about again. */
const maxRemembered = 1000

export function createSenderWarnings(log: HookLog, now: () => number, onOld?: (list: string) => void) {
  const warnedAt = new Map<string, number>()

  function isDue(kind: string, endpoint: string): boolean {
    const key = `${kind} ${endpoint}`
    const last = warnedAt.get(key)
    if (last !== undefined && now() - last < quietMs) return false
    if (warnedAt.size >= maxRemembered) warnedAt.clear()
    warnedAt.set(key, now())
    return true
  }

  /** The name of the event is written out by the caller, so that a search for it in the code finds it. */
  function ofOld(kind: 'token' | 'secret', event: string) {
    const hint = `Give this sender the newest ${kind}; once nobody uses the old one, take it out of the list.`
    return ({ endpoint = '', client }: RequestFacts, list: string, index: number): void => {
      onOld?.(list)
      if (!isDue(kind, endpoint)) return
      log.warn({ event, endpoint, list, position: index + 1, client, hint })
    }
  }

  const ofOldToken = ofOld('token', 'old-token-used')

  return {
    /** The token was right, but came in the address or is not the newest of its list. */
    ofToken(facts: RequestContext, { list, index }: FoundToken): void {
      const { endpoint = '', deprecated } = facts
      if (deprecated && isDue('query', endpoint)) {
        const hint = 'Send the token as "Authorization: Bearer"; addresses end up in the logs of proxies.'
        log.warn({ event: 'query-token-used', endpoint, hint })
      }
      if (index > 0) ofOldToken(facts, list, index)
    },
    /** A secret verified a signature, but is not the newest of its list. The index counts from 0. */
    ofOldSecret: ofOld('secret', 'old-secret-used'),
    /**
     * Some fields of the body have no effect. The sender chose their names, so only its own reply names them; the log says how
     * many there are and what was probably meant.
     */
    ofUnknownFields({ endpoint = '', client, requestId }: RequestFacts, fields: readonly FieldError[]): void {
      if (!isDue('fields', endpoint)) return
      const problems = [...new Set(fields.map(({ message }) => message))]
      log.warn({ event: 'unknown-fields', requestId, endpoint, client, fields: fields.length, problems })
    },
  }
}
