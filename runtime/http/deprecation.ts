/** Owns the warning about tokens in addresses: at most one a minute for each endpoint. */

import type { HookLog } from './log.ts'

const quietMs = 60_000
/** A catch-all mapping makes any name an endpoint; past this many, all are forgotten and warned of anew. */
const maxEndpoints = 1000

export function createQueryTokenWarning(log: HookLog, now: () => number): (endpoint: string) => void {
  const warnedAt = new Map<string, number>()

  return function warn(endpoint) {
    const last = warnedAt.get(endpoint)
    if (last !== undefined && now() - last < quietMs) return
    if (warnedAt.size >= maxEndpoints) warnedAt.clear()
    warnedAt.set(endpoint, now())
    log.warn({
      event: 'query-token-used',
      endpoint,
      hint: 'Send the token as "Authorization: Bearer"; addresses end up in the logs of proxies.',
    })
  }
}
