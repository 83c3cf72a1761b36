/** Finds what keeps a process alive: sockets, timers, servers and children. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

export type OpenResources = ReadonlyMap<string, number>

/** Number of rounds of the event loop that a closed socket may take to disappear. */
const turns = 100

/** Returns how many of each kind are open, after some rounds of the event loop, so that what was closed before is gone. */
export async function openResources(): Promise<OpenResources> {
  for (let turn = 0; turn < turns; turn += 1) await yieldToEventLoop()
  return count()
}

function count(): OpenResources {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Returns the kinds, among all or the given ones, of which more are open than before, after some rounds of the event loop. */
export async function leaksOf(before: OpenResources, kinds?: readonly string[]): Promise<string[]> {
  let leaks: string[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    await yieldToEventLoop()
    leaks = [...count()]
      .filter(([kind, open]) => kind !== 'Immediate' && open > (before.get(kind) ?? 0))
      .map(([kind]) => kind)
      .filter((kind) => kinds?.includes(kind) ?? true)
    if (leaks.length === 0) break
  }
  return leaks
}
