/** Builds a candidate that does not go live, and compares it with the live snapshot. */

import type { Snapshot } from '../compile/snapshot.ts'
import { type BuildContext, buildCandidate, type CandidateParts } from './candidate.ts'
import { noChanges } from './changes.ts'
import type { Live } from './live.ts'
import { closing, overruled } from './reload-diagnostics.ts'
import type { ReloadResult } from './reload-event.ts'

export interface DryRunSides {
  readonly live: Snapshot
  readonly candidate: Snapshot
  /** True if a reload or a rollback waits. Then the results so far have to suffice. */
  isGivenUp(): boolean
}

/** Compares both sides. The result is returned to the caller. */
export type InspectCandidate<Seen> = (sides: DryRunSides) => Promise<Seen>

/** `result.outcome` is `live` if the candidate would go live. */
export interface DryRunResult<Seen> {
  readonly result: ReloadResult
  /** Absent if there was no candidate to inspect. */
  readonly seen?: Seen
}

interface DryRunOptions extends Pick<DryRunSides, 'isGivenUp'> {
  readonly parts: CandidateParts
  readonly context: BuildContext
  readonly live: Live
  readonly now: () => number
  readonly isClosed: () => boolean
  /** Releases the candidate. Never rejects. */
  readonly settle: (step: () => Promise<void>) => Promise<void>
}

/** Only the caller gets the result: there is no event, and no record in the archive. */
export async function dryRunCandidate<Seen>(
  inspect: InspectCandidate<Seen>,
  options: DryRunOptions,
): Promise<DryRunResult<Seen>> {
  const { parts, context, live, now, isClosed, isGivenUp, settle } = options
  const begun = now()
  const answer = (
    outcome: ReloadResult['outcome'],
    { changes = noChanges, ...more }: Pick<ReloadResult, 'diagnostics' | 'digest'> & Partial<ReloadResult>,
  ): ReloadResult => ({
    outcome,
    ok: outcome !== 'rejected',
    generation: live.generation,
    tookMs: now() - begun,
    changes,
    ...more,
  })

  const built = await buildCandidate(parts, { ...context, isDryRun: true })
  switch (built.outcome) {
    case 'superseded':
    case 'resting':
      return { result: answer('rejected', { diagnostics: [isClosed() ? closing : overruled] }) }
    case 'unchanged':
      return { result: answer('unchanged', { diagnostics: built.warnings, digest: built.digest }) }
    case 'rejected':
      return { result: answer('rejected', built) }
    default: {
      const { candidate } = built
      const { snapshot, changes, warnings: diagnostics } = candidate
      try {
        const seen = await inspect({ live: live.snapshot, candidate: snapshot, isGivenUp })
        return { result: answer('live', { changes, diagnostics, digest: snapshot.digest }), seen }
      } finally {
        await settle(() => candidate.discard())
      }
    }
  }
}
