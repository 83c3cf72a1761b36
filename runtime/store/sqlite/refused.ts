/** Owns the bounded memory of refused requests, so that an attacker fills no disk. Wrong tokens are summed up. */

import type { Id, RequestRecord } from '../port.ts'

export interface Refused {
  add(request: RequestRecord): void
  get(id: Id): RequestRecord | undefined
  /** Newest first, older than `before`. */
  list(options: { before?: Id; endpoint?: string; limit: number }): RequestRecord[]
}

const most = 10_000
const minute = 60_000

export function createRefused(): Refused {
  /** In the order of arrival: the first one is the next to go. */
  const ring = new Map<Id, RequestRecord>()
  const sums = new Map<string, Id>()

  function forgetOldest(): void {
    const [oldest] = ring.values()
    if (oldest === undefined) return
    ring.delete(oldest.id)
    if (sums.get(sumKey(oldest)) === oldest.id) sums.delete(sumKey(oldest))
  }

  return {
    add(request) {
      const key = sumKey(request)
      const sum = request.status === 401 ? ring.get(sums.get(key) ?? '') : undefined
      if (sum !== undefined) {
        ring.set(sum.id, { ...sum, count: (sum.count ?? 1) + 1 })
        return
      }
      const { body: _body, head: _head, ...record } = request
      ring.set(request.id, record)
      if (request.status === 401) sums.set(key, request.id)
      if (ring.size > most) forgetOldest()
    },
    get: (id) => ring.get(id),
    list({ before, endpoint, limit }) {
      return [...ring.values()]
        .filter((request) => before === undefined || request.id < before)
        .filter((request) => endpoint === undefined || request.endpoint === endpoint)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
    },
  }
}

function sumKey({ client, receivedAt }: RequestRecord): string {
  return `${Math.floor(receivedAt / minute)} ${client ?? ''}`
}
