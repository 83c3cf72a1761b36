/** Knows the noted requests whose commit is under way, so that a sender finds its request as soon as the reply names it. */

import type { Id, RequestRecord } from './port.ts'

/** Maximum bytes of bodies that wait for their commit; further requests are noted without theirs. */
const maxWaitingBytes = 33_554_432

export function createNotedRequests(max: number) {
  /** In the order in which they were handed in, which is that of their commits. */
  const waiting = new Map<Id, RequestRecord>()
  let bytes = 0

  return {
    /** Returns what is to be committed: without its body while many wait, and nothing under a flood. */
    add(request: RequestRecord): RequestRecord | undefined {
      if (waiting.size >= max) return undefined
      const { body, head: _head, ...bare } = request
      const kept: RequestRecord = bytes + (body?.length ?? 0) > maxWaitingBytes ? bare : request
      bytes += kept.body?.length ?? 0
      waiting.set(request.id, kept)
      return kept
    },
    /** The request is on the disk, or is given up. */
    done(id: Id): void {
      bytes -= waiting.get(id)?.body?.length ?? 0
      waiting.delete(id)
    },
    get: (id: Id): RequestRecord | undefined => waiting.get(id),
  }
}
