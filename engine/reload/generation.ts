/** What is kept of a generation that has served: enough to report it, and to serve it again. */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { Bundle } from '../transform/port.ts'
import type { Changes } from './changes.ts'

/** How many that went live are kept with their content. */
export const keptGenerations = 20

export interface GenerationRecord {
  /** Absent: it was refused, and never had a number. */
  readonly generation?: number
  /** SHA-256 in hex of everything it was made from; absent where loading itself broke down. */
  readonly digest?: string
  readonly state: 'live' | 'retired' | 'rejected'
  /** When it last went live, or was refused; milliseconds since the Unix epoch. */
  readonly at: number
  /** From the start of loading, in milliseconds. */
  readonly tookMs: number
  /** How many mappings can match; absent for a refused one. */
  readonly mappings?: number
  /** Compared with what served before it. */
  readonly changes: Changes
  readonly diagnostics: readonly Diagnostic[]
}

/** What a generation was made from. Secrets in it are references, unless the operator wrote them out. */
export interface GenerationContent {
  /** As the snapshot's. */
  readonly digest: string
  /** By absolute path; see `Configuration.sources`. */
  readonly sources: ReadonlyMap<string, string>
  /** By module. Their files are kept as long as the generation is. */
  readonly bundles: ReadonlyMap<string, Bundle>
}

/** An old generation that serves in the place of the files. */
export interface Rollback {
  readonly generation: number
  /** Of the files that it serves instead of; once they have another, they serve again. */
  readonly filesDigest: string
}

/**
 * Keeps generations and gives them their numbers, so that an archive on disk never gives a number twice. Nothing here
 * throws: the archive reports what it cannot keep, and no reload stops for it.
 */
export interface GenerationArchive {
  /** Newest first; at most {@link keptGenerations} that went live, and as many that were refused. */
  list(): readonly GenerationRecord[]
  /** The number that the content with this digest goes live under: that which it had, or else the next. */
  numberOf(digest: string): number
  /** Called after the swap; what served before it is retired. */
  keep(record: GenerationRecord & { readonly generation: number }, content: GenerationContent): void
  note(rejected: GenerationRecord): void
  /** Undefined: not kept, or no longer. */
  read(generation: number): Promise<GenerationContent | undefined>
  /** The rollback that holds, also after a restart. */
  rollback(): Rollback | undefined
  setRollback(rollback: Rollback | undefined): void
}

/** Whether the same files were refused once more: the archive keeps the last refusal alone. */
export function isRefusedAgain(last: GenerationRecord, next: GenerationRecord): boolean {
  return next.digest !== undefined && last.digest === next.digest
}
