/** Defines what is kept of a generation that was live, so that it can be reported and become live again. */

import type { Bundle } from '../transform/port.ts'
import type { ReloadResult } from './reload-event.ts'

/** The number of live generations that are kept with their content. */
export const keptGenerations = 20

/** What is kept of a result: of a generation that went live, or of a candidate that was refused. */
export interface GenerationRecord
  extends Pick<ReloadResult, 'digest' | 'tookMs' | 'changes' | 'diagnostics'> {
  /** Absent: the generation was refused, and never had a number. */
  readonly generation?: number
  readonly state: 'live' | 'retired' | 'rejected'
  /** The time when it last went live, or was refused. Milliseconds since the Unix epoch. */
  readonly at: number
  /** The number of mappings that can match. Absent for a refused generation. */
  readonly mappings?: number
  /** The name of the operator who reloaded or rolled back. Absent: the files changed, or the process began. */
  readonly by?: string
}

/** The content that a generation was made from. Secrets in it are references, unless the operator wrote them out. */
export interface GenerationContent {
  /** The digest of the snapshot. */
  readonly digest: string
  /** Files by absolute path; see `Configuration.sources`. */
  readonly sources: ReadonlyMap<string, string>
  /** Bundles by module. Their files are kept as long as the generation is. */
  readonly bundles: ReadonlyMap<string, Bundle>
}

/** An old generation that is live in place of the files. */
export interface Rollback {
  readonly generation: number
  /** The digest of the files that it replaces. When the files have another digest, they go live again. */
  readonly filesDigest: string
}

/**
 * Keeps generations and assigns their numbers, so that an archive on disk never assigns a number twice. No function
 * throws: the archive reports what it cannot keep, and no reload stops for it.
 */
export interface GenerationArchive {
  /** Lists the newest first, with at most {@link keptGenerations} that went live, and as many that were refused. */
  list(): readonly GenerationRecord[]
  /** Returns the number under which content with this digest goes live: its earlier number, or else the next one. */
  numberOf(digest: string): number
  /** Called after the swap. The previous generation is retired. */
  keep(record: GenerationRecord & { readonly generation: number }, content: GenerationContent): void
  note(rejected: GenerationRecord): void
  /** Returns undefined for a generation that is not kept, or no longer. */
  read(generation: number): Promise<GenerationContent | undefined>
  /** Returns the rollback that is in force, also after a restart. */
  rollback(): Rollback | undefined
  setRollback(rollback: Rollback | undefined): void
}

/** True if the same files were refused again. The archive keeps only the last such refusal. */
export function isRefusedAgain(last: GenerationRecord, next: GenerationRecord): boolean {
  return next.digest !== undefined && last.digest === next.digest
}
