/** Owns how the end of a round is told: to who asked, to the listeners and to the archive, each the same. */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { Candidate } from './candidate.ts'
import { noChanges } from './changes.ts'
import type { GenerationArchive } from './generation.ts'
import type { ReloadEvent, ReloadResult } from './reload-event.ts'

export interface Verdicts {
  /** Another generation serves. `rolledBack`: in the place of the files. */
  live(candidate: Candidate, round: Swapped): ReloadResult
  unchanged(diagnostics: readonly Diagnostic[], begun: number, digest: string | undefined): ReloadResult
  /** `rollbackTo`: the generation that could not be gone back to. */
  rejected(
    diagnostics: readonly Diagnostic[],
    begun: number,
    digest?: string,
    rollbackTo?: number,
  ): ReloadResult
  /** There is no candidate to tell of: whoever asked has the answer, and nobody else wants it. */
  declined(reason: Diagnostic, begun: number): ReloadResult
}

export interface Swapped {
  readonly generation: number
  /** When the round began. */
  readonly begun: number
  readonly warnings: readonly Diagnostic[]
  readonly rolledBack: boolean
}

interface VerdictParts {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly archive: Pick<GenerationArchive, 'keep' | 'note'>
  readonly emit: (event: ReloadEvent) => void
  /** What serves; undefined where nothing ever did. */
  readonly serving: () => number | undefined
}

export function createVerdicts({ now, archive, emit, serving }: VerdictParts): Verdicts {
  /** What serves is what served before. */
  function stay(outcome: 'unchanged' | 'rejected', diagnostics: readonly Diagnostic[], begun: number) {
    const ok = outcome === 'unchanged'
    return { outcome, ok, generation: serving(), tookMs: now() - begun, changes: noChanges, diagnostics }
  }

  return {
    live({ source, snapshot, changes, warnings, heldKeys }, round) {
      const { generation, begun } = round
      const { digest } = snapshot
      const tookMs = now() - begun
      const mappings = snapshot.mappings.length
      const diagnostics = [...round.warnings, ...warnings]
      const rolledBack = round.rolledBack ? ({ rolledBack: true } as const) : {}
      const { configuration, bundles } = source
      archive.keep(
        { generation, digest, state: 'live', at: now(), tookMs, mappings, changes, diagnostics },
        { digest, sources: configuration.sources, bundles },
      )
      const facts = { generation, digest, tookMs, changes }
      emit({ type: 'snapshot-swapped', ...facts, mappings, warnings: diagnostics, ...rolledBack })
      if (heldKeys.length > 0) emit({ type: 'restart-required', generation, keys: heldKeys })
      return { outcome: 'live', ok: true, ...facts, diagnostics, ...rolledBack }
    },
    unchanged(diagnostics, begun, digest) {
      const result = stay('unchanged', diagnostics, begun)
      emit({ type: 'content-unchanged', generation: result.generation ?? 0, tookMs: result.tookMs })
      return { ...result, digest }
    },
    rejected(diagnostics, begun, digest, rollbackTo) {
      const result = stay('rejected', diagnostics, begun)
      const { tookMs } = result
      const known = digest === undefined ? {} : { digest }
      const asked = rollbackTo === undefined ? {} : { rollbackTo }
      archive.note({ state: 'rejected', ...known, at: now(), tookMs, changes: noChanges, diagnostics })
      emit({ type: 'candidate-rejected', diagnostics, ...known, tookMs, ...asked })
      return { ...result, ...known }
    },
    declined: (reason, begun) => stay('rejected', [reason], begun),
  }
}
