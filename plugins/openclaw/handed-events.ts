/**
 * Owns which events OpenClaw has. A heartbeat that fails is asked again with the same events, and `/hooks/wake` tells
 * no event from another: those that were taken before the failure must not be handed on again.
 */

export interface HandedEvents {
  has(id: string): boolean
  add(id: string): void
}

/** More than one heartbeat shows by far: the oldest are events that have long been consumed. */
const most = 5000

export function createHandedEvents(limit = most): HandedEvents {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id)
      for (const oldest of ids) {
        if (ids.size <= limit) break
        ids.delete(oldest)
      }
    },
  }
}
