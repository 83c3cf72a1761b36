/** Finds out what a worker does that does not answer: it waits, or it computes, and then in which line of the author. */

import type { Profiler } from 'node:inspector'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Place } from '../../config/file/diagnostic.ts'
import type { WorkerThread } from '../worker/protocol.ts'
import { sourcePlace } from './source-place.ts'

/** Takes some twenty samples. */
const sampleMs = 20
/** V8 takes 70 ms to begin, and a thread in native code does not answer at all. */
const maxWaitMs = 400

export interface BusyLine {
  readonly state: 'busy' | 'waiting' | 'unknown'
  /** The line of a busy worker. */
  readonly place?: Place
}

/** @param file of the bundle; absolute */
export async function findBusyLine(thread: WorkerThread, file: string): Promise<BusyLine> {
  const giveUp = new AbortController()
  try {
    const profile = await Promise.race([
      thread.profile(() => pause(sampleMs)),
      pause(maxWaitMs, undefined, { signal: giveUp.signal }),
    ])
    return profile === undefined ? { state: 'unknown' } : await readProfile(JSON.parse(profile), file)
  } catch {
    return { state: 'unknown' }
  } finally {
    giveUp.abort()
  }
}

/** Lines of ticks count from 1, those of functions from 0. */
async function readProfile({ nodes }: Profiler.Profile, file: string): Promise<BusyLine> {
  const hits = (node: Profiler.ProfileNode) => node.hitCount ?? 0
  const [busiest] = nodes.toSorted((left, right) => hits(right) - hits(left))
  if (busiest === undefined || hits(busiest) === 0) return { state: 'unknown' }
  if (busiest.callFrame.functionName === '(idle)') return { state: 'waiting' }
  const parents = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  )
  for (let node: Profiler.ProfileNode | undefined = busiest; node; node = parents.get(node.id)) {
    if (!isFrom(node.callFrame.url, file)) continue
    const place = await findPlace(node, file)
    return { state: 'busy', ...(place && { place }) }
  }
  return { state: 'busy' }
}

function isFrom(url: string, file: string): boolean {
  return url.startsWith('file:') && fileURLToPath(url) === file
}

/** The line of a function in which most time was spent. */
function findPlace(
  { callFrame, positionTicks = [] }: Profiler.ProfileNode,
  file: string,
): Promise<Place | undefined> {
  const [tick] = positionTicks.toSorted((left, right) => right.ticks - left.ticks)
  return sourcePlace(
    file,
    tick ? { line: tick.line - 1 } : { line: callFrame.lineNumber, column: callFrame.columnNumber },
  )
}
