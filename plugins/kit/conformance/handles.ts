/** Owns the look at what keeps a process alive: sockets, timers, servers, children. */

import { setImmediate as nextTurn } from 'node:timers/promises'

export type OpenResources = ReadonlyMap<string, number>

/** How many turns of the event loop a closed socket may take to be gone. */
const turns = 100

export function openResources(): OpenResources {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The kinds, of all or of those given, of which more are open than before, once the event loop has had its say. */
export async function leaksOf(before: OpenResources, kinds?: readonly string[]): Promise<string[]> {
  let leaks: string[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    await nextTurn()
    leaks = [...openResources()]
      .filter(([kind, count]) => kind !== 'Immediate' && count > (before.get(kind) ?? 0))
      .map(([kind]) => kind)
      .filter((kind) => kinds?.includes(kind) ?? true)
    if (leaks.length === 0) break
  }
  return leaks
}
