/** Owns the way from files to a candidate: load, keep what only a restart can change, compile, prepare. */

import type { Compiled } from '../compile/compile-snapshot.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, Loaded } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { type BootKey, holdBootSettings } from './boot-settings.ts'

/** What the host started for a candidate. Exactly one of the two is called, once. */
export interface Prepared {
  /** After the swap: lets go of what the snapshot before it used. */
  commit(): Promise<void> | void
  /** Instead of the swap: lets go of what was started for the candidate. */
  discard(): Promise<void> | void
}

export interface CandidateParts {
  load(): Promise<Loaded>
  /** Its warnings include those of loading. */
  compile(configuration: Configuration): Compiled | Promise<Compiled>
  /** Starts what the snapshot needs. A throw refuses the candidate; a {@link CandidateError} says where and why. */
  prepare?(snapshot: Snapshot): Promise<Prepared> | Prepared
}

/** Thrown by a host that refuses a candidate for reasons that have places. */
export class CandidateError extends Error {
  readonly code = 'CANDIDATE_REFUSED'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[], options?: ErrorOptions) {
    super(diagnostics[0]?.message ?? 'The candidate was refused', options)
    this.name = 'CandidateError'
    this.diagnostics = diagnostics
  }
}

export interface Candidate {
  readonly snapshot: Snapshot
  readonly prepared?: Prepared
  readonly warnings: readonly Diagnostic[]
  /** Keys whose new value waits for a restart. */
  readonly heldKeys: readonly BootKey[]
}

export type Built =
  | { readonly outcome: 'ready'; readonly candidate: Candidate }
  | { readonly outcome: 'unchanged'; readonly warnings: readonly Diagnostic[] }
  | { readonly outcome: 'rejected'; readonly diagnostics: readonly Diagnostic[]; readonly digest?: string }
  | { readonly outcome: 'superseded' }

export interface BuildContext {
  /** What serves now. Absent: this is the first load. */
  readonly live?: Snapshot
  /** Whether a later change makes this candidate not worth finishing. */
  isSuperseded(): boolean
  /** Told as soon as they are known, also for a load that failed. */
  onWatched(paths: readonly string[]): void
}

/** Never rejects: whatever goes wrong is a rejected candidate. */
export async function buildCandidate(parts: CandidateParts, context: BuildContext): Promise<Built> {
  let digest: string | undefined
  try {
    const loaded = await parts.load()
    context.onWatched(loaded.ok ? loaded.configuration.watched : loaded.watched)
    digest = loaded.ok ? loaded.configuration.digest : loaded.digest
    if (context.isSuperseded()) return { outcome: 'superseded' }
    if (!loaded.ok) return { outcome: 'rejected', diagnostics: loaded.diagnostics, digest }
    const { configuration, heldKeys } = holdBootSettings(loaded.configuration, context.live?.settings)
    if (digest === context.live?.digest) return { outcome: 'unchanged', warnings: configuration.warnings }

    const compiled = await parts.compile(configuration)
    if (context.isSuperseded()) return { outcome: 'superseded' }
    if (!compiled.ok) return { outcome: 'rejected', diagnostics: compiled.diagnostics, digest }

    const { snapshot } = compiled
    const prepared = await parts.prepare?.(snapshot)
    const { warnings } = compiled
    return { outcome: 'ready', candidate: { snapshot, heldKeys, warnings, ...(prepared && { prepared }) } }
  } catch (error) {
    return { outcome: 'rejected', diagnostics: diagnosticsOf(error), ...(digest && { digest }) }
  }
}

function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof CandidateError && error.diagnostics.length > 0) return error.diagnostics
  const message = error instanceof Error ? error.message : 'The candidate could not be built'
  return [{ severity: 'error', code: 'CANDIDATE_REFUSED', message }]
}
