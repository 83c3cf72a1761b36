/**
 * Remembers refused requests and handshakes in bounded memory. They need no credentials, so an attacker could fill a disk
 * with them. Repetitions of one sender are summed up, so that they do not push out the requests of others.
 */

import { cut } from '../cut.ts'
import { isNamedBy, maxSearched } from './id.ts'
import type { Id, RequestFilters, RequestRecord } from './port.ts'

export type RefusedRequests = ReturnType<typeof createRefusedRequests>

const max = 10_000
const minute = 60_000
const maxNameLength = 200
/** Statuses that a client without credentials can be answered; among them too long and too slow bodies. */
const summedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 408, 413, 429, 503])

export function createRefusedRequests() {
  /** The records are in the order of arrival, and the first one is deleted next. */
  const ring = new Map<Id, RequestRecord>()
  const sums = new Map<string, Id>()

  /** One iterator for good: a new one would walk over the places of all deleted entries. */
  const oldestFirst = ring.values()

  function forgetOldest(): void {
    const oldest = oldestFirst.next().value
    if (oldest === undefined) return
    ring.delete(oldest.id)
    if (sums.get(sumKey(oldest)) === oldest.id) sums.delete(sumKey(oldest))
  }

  return {
    /** Returns whether requests with this outcome are stored here and not on disk. */
    takes: (outcome: string): boolean => outcome === 'refused' || outcome === 'handshake',
    /** `alone` gives the request a record of its own, because it is not known yet whether the store keeps it. */
    add(
      { body: _body, head: _head, trace: _trace, ...request }: RequestRecord,
      { alone = false }: { readonly alone?: boolean } = {},
    ) {
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
      if (ring.size > max) forgetOldest()
    },
    /** Drops a request that turned out to be on disk. */
    forget: (id: Id) => void ring.delete(id),
    /** Replaces the reason with what became known later, in one sentence. */
    amend(id: Id, reason: string) {
      const request = ring.get(id)
      if (request !== undefined) ring.set(id, { ...request, reason })
    },
    get: (id: Id): RequestRecord | undefined => ring.get(id),
    /** Finds requests by their ids, their ends or the sender's ids of their deliveries. Newest first. */
    find(text: string): Id[] {
      if (ring.has(text)) return [text]
      const isWanted = isNamedBy(text)
      return [...ring.values()]
        .slice(-maxSearched)
        .filter(({ id, deliveryId }) => isWanted(id) || deliveryId === text)
        .map(({ id }) => id)
        .reverse()
    },
    /** Newest first, older than the cursor. */
    list(
      limit: number,
      { since = 0, until = Number.POSITIVE_INFINITY, ...filters }: RequestFilters,
      cursor?: Id,
    ): RequestRecord[] {
      const present = Object.entries(filters).filter(([, value]) => value !== undefined)
      const matches = (request: RequestRecord & Readonly<Record<string, unknown>>) =>
        request.receivedAt >= since &&
        request.receivedAt < until &&
        present.every(([name, value]) => request[name] === value)
      return [...ring.values()]
        .filter((request) => (cursor === undefined || request.id < cursor) && matches({ ...request }))
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
    },
  }
}

/** Callers without credentials choose these names. The copy lets the long string be collected, which a slice would not. */
function shortName(endpoint: string): string {
  return endpoint.length > maxNameLength ? Buffer.from(cut(endpoint, maxNameLength)).toString() : endpoint
}

function sumKey(request: RequestRecord): string {
  const { client = '', receivedAt, endpoint, outcome, status, code = '', failure = '' } = request
  return [Math.floor(receivedAt / minute), client, outcome, status, code, failure, endpoint].join(' ')
}
