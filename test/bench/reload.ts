/** Measures a reload from saving a file to serving it, and how long it holds the event loop. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ReloadCase {
  readonly name: string
  readonly mappings: number
  readonly perFile: number
  /** The edited file. */
  readonly edited: 'mapping' | 'transform'
  readonly edits: number
}

export interface Edit {
  /** The time from before the file is written to the event that it is live. */
  readonly ms: number
  /** The time from the start of loading to that event. */
  readonly reloadMs: number
  /** The longest time in which no timer could run. */
  readonly heldMs: number
}

/** The measurements of one process. */
export interface ReloadTimes {
  readonly startMs: number
  readonly debounceMs: number
  readonly edits: readonly Edit[]
}

export interface Reloading extends ReloadTimes {
  readonly name: string
}

const cases: readonly Omit<ReloadCase, 'edits'>[] = [
  { name: 'a mapping of 10', mappings: 10, perFile: 10, edited: 'mapping' },
  { name: 'a mapping of 1,000', mappings: 1_000, perFile: 10, edited: 'mapping' },
  { name: 'a mapping of 10,000', mappings: 10_000, perFile: 10, edited: 'mapping' },
  { name: 'a mapping of 1,000 in one file', mappings: 1_000, perFile: 1_000, edited: 'mapping' },
  { name: 'a transform, 10 mappings', mappings: 10, perFile: 10, edited: 'transform' },
  { name: 'a transform, 1,000 mappings', mappings: 1_000, perFile: 10, edited: 'transform' },
]

/** Runs each case in its own process, one after another. */
export async function measureReload(
  edits: number,
  progress: (text: string) => void,
): Promise<readonly Reloading[]> {
  const reloadings: Reloading[] = []
  for (const each of cases) {
    progress(`reload, ${each.name}`)
    reloadings.push({ name: each.name, ...(await measureCase({ ...each, edits })) })
  }
  return reloadings
}

async function measureCase(reloadCase: ReloadCase): Promise<ReloadTimes> {
  const program = fileURLToPath(new URL('./reload-gateway.ts', import.meta.url))
  const child = fork(program, [JSON.stringify(reloadCase)])
  const ended = once(child, 'exit')
  const message = await Promise.race([once(child, 'message'), ended.then(() => undefined)])
  const [code] = await ended
  if (message === undefined || code !== 0)
    throw new Error(`the gateway of "${reloadCase.name}" ended with ${code}`)
  return message[0] as ReloadTimes
}

/** Returns the value below which `share` of the values are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}
