/**
 * Owns the bounded memory of what anybody can send: refused requests and handshakes, so that an attacker fills no disk.
 * What one sender repeats is summed up, so that it does not push out what the others sent.
 */

import { cut } from '../../../cut.ts'
import type { Id, RequestRecord } from '../../port.ts'

export interface Refused {
  /** Whether requests that ended so are here, and nowhere else. */
  takes(outcome: string): boolean
  /** `alone`: in a record of its own, as one whose fate is not known yet. */
  add(request: RequestRecord, options?: { readonly alone?: boolean }): void
  /** It is on the disk after all. */
  forget(id: Id): void
  /** What became known of it later, in one sentence. */
  amend(id: Id, reason: string): void
  get(id: Id): RequestRecord | undefined
  /** Newest first, older than `before`. */
  list(options: { before?: Id; outcome?: string; endpoint?: string; limit: number }): RequestRecord[]
}

const most = 10_000
const minute = 60_000
const longestName = 200
/** What whoever knows nothing may be answered, a body that is too long or too slow included. */
const summedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 408, 413, 429, 503])

export function createRefused(): Refused {
  /** In the order of arrival: the first one is the next to go. */
  const ring = new Map<Id, RequestRecord>()
  const sums = new Map<string, Id>()

  /** Begun anew, it would walk over the places of all that went before. */
  const oldestFirst = ring.values()

  function forgetOldest(): void {
    const oldest = oldestFirst.next().value
    if (oldest === undefined) return
    ring.delete(oldest.id)
    if (sums.get(sumKey(oldest)) === oldest.id) sums.delete(sumKey(oldest))
  }

  return {
    takes: (outcome) => outcome === 'refused' || outcome === 'handshake',
    add({ body: _body, head: _head, ...request }, { alone = false } = {}) {
      const record = { ...request, endpoint: shortName(request.endpoint) }
      const isSummed = !alone && (record.outcome === 'handshake' || summedStatuses.has(record.status))
      const key = sumKey(record)
      const sum = isSummed ? ring.get(sums.get(key) ?? '') : undefined
      if (sum !== undefined) {
        ring.set(sum.id, { ...sum, count: (sum.count ?? 1) + 1 })
        return
      }
      ring.set(record.id, record)
      if (isSummed) sums.set(key, record.id)
      if (ring.size > most) forgetOldest()
    },
    forget: (id) => void ring.delete(id),
    amend(id, reason) {
      const request = ring.get(id)
      if (request !== undefined) ring.set(id, { ...request, reason })
    },
    get: (id) => ring.get(id),
    list({ before, outcome, endpoint, limit }) {
      return [...ring.values()]
        .filter((request) => outcome === undefined || request.outcome === outcome)
        .filter((request) => before === undefined || request.id < before)
        .filter((request) => endpoint === undefined || request.endpoint === endpoint)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
    },
  }
}

/** Where any name is an endpoint's, strangers make them up. Written anew: a slice would keep the whole. */
function shortName(endpoint: string): string {
  return endpoint.length > longestName ? Buffer.from(cut(endpoint, longestName)).toString() : endpoint
}

function sumKey(request: RequestRecord): string {
  const { client = '', receivedAt, endpoint, outcome, status, code = '', failure = '' } = request
  return [Math.floor(receivedAt / minute), client, outcome, status, code, failure, endpoint].join(' ')
}
