/** Owns the look at a candidate that is not to go live: it and what serves, side by side. */

import type { Snapshot } from '../compile/snapshot.ts'
import { type BuildContext, buildCandidate, type CandidateParts } from './candidate.ts'
import { noChanges } from './changes.ts'
import type { Live } from './live.ts'
import { closing, overruled } from './reload-diagnostics.ts'
import type { ReloadResult } from './reload-event.ts'

export interface TrialSides {
  readonly live: Snapshot
  readonly candidate: Snapshot
  /** Whether somebody waits who wants more than a look: what was seen so far has to do. */
  isGivenUp(): boolean
}

export type Trial<Seen> = (sides: TrialSides) => Promise<Seen>

/** `result.outcome` is `live` where it would be. */
export interface Tried<Seen> {
  readonly result: ReloadResult
  /** Absent where there was nothing to look at. */
  readonly seen?: Seen
}

interface TrialRound extends Pick<TrialSides, 'isGivenUp'> {
  readonly parts: CandidateParts
  readonly context: BuildContext
  readonly live: Live
  readonly now: () => number
  readonly isClosed: () => boolean
  /** Lets go of the candidate; never rejects. */
  readonly settle: (step: () => Promise<void>) => Promise<void>
}

/** Nothing of it is told to anybody but who asked. */
export async function tryCandidate<Seen>(look: Trial<Seen>, round: TrialRound): Promise<Tried<Seen>> {
  const { parts, context, live, now, isClosed, isGivenUp, settle } = round
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

  const built = await buildCandidate(parts, { ...context, isTrial: true })
  switch (built.outcome) {
    case 'superseded':
      return { result: answer('rejected', { diagnostics: [isClosed() ? closing : overruled] }) }
    case 'unchanged':
      return { result: answer('unchanged', { diagnostics: built.warnings, digest: built.digest }) }
    case 'rejected':
      return { result: answer('rejected', built) }
    default: {
      const { candidate } = built
      const { snapshot, changes, warnings: diagnostics } = candidate
      try {
        const seen = await look({ live: live.snapshot, candidate: snapshot, isGivenUp })
        return { result: answer('live', { changes, diagnostics, digest: snapshot.digest }), seen }
      } finally {
        await settle(() => candidate.discard())
      }
    }
  }
}
