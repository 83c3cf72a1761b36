/** Owns what a reload costs: from saving a file to serving it, and how long the event loop is held meanwhile. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ReloadCase {
  readonly name: string
  readonly mappings: number
  readonly perFile: number
  /** What is edited. */
  readonly edited: 'mapping' | 'transform'
  readonly edits: number
}

export interface Edit {
  /** From before the file is written to the event that says that it serves. */
  readonly ms: number
  /** From the start of loading to that event. */
  readonly reloadMs: number
  /** The longest that no timer could run. */
  readonly heldMs: number
}

/** What one process measured. */
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

/** Each case in a process of its own, one after another. */
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
  const told = await Promise.race([once(child, 'message'), ended.then(() => undefined)])
  const [code] = await ended
  if (told === undefined || code !== 0)
    throw new Error(`the gateway of "${reloadCase.name}" ended with ${code}`)
  return told[0] as ReloadTimes
}

/** The value below which `share` of them lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}
