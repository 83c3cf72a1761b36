/** Reports the result of a reload in the same form to its caller, to the listeners and to the archive. */

import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Candidate } from './candidate.ts'
import { noChanges } from './changes.ts'
import type { GenerationArchive } from './generation.ts'
import type { ReloadEvent, ReloadResult } from './reload-event.ts'

interface Swapped {
  readonly generation: number
  /** When the reload began. */
  readonly begun: number
  readonly warnings: readonly Diagnostic[]
  readonly rolledBack: boolean
}

interface ReloadResultsOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly archive: Pick<GenerationArchive, 'keep' | 'note'>
  readonly emit: (event: ReloadEvent) => void
  /** Returns the live generation, or undefined if none ever was. */
  readonly serving: () => number | undefined
  /** Returns who asked for what runs. */
  readonly actor: () => string | undefined
}

export function createReloadResults({ now, archive, emit, serving, actor }: ReloadResultsOptions) {
  /** The previous snapshot stays live, and only the caller gets the result. */
  function stay(
    outcome: ReloadResult['outcome'],
    diagnostics: readonly Diagnostic[],
    begun: number,
  ): ReloadResult {
    const ok = outcome !== 'rejected'
    return { outcome, ok, generation: serving(), tookMs: now() - begun, changes: noChanges, diagnostics }
  }

  function actorOf() {
    const by = actor()
    return by === undefined ? {} : { by }
  }

  return {
    /** Reports that another generation is live. `rolledBack` means in place of the files. */
    live(candidate: Candidate, swapped: Swapped): ReloadResult {
      const { source, snapshot, changes, warnings, heldKeys } = candidate
      const { generation, begun } = swapped
      const { digest } = snapshot
      const tookMs = now() - begun
      const mappings = snapshot.mappings.length
      const diagnostics = [...swapped.warnings, ...warnings]
      const rolledBack = swapped.rolledBack ? ({ rolledBack: true } as const) : {}
      const { configuration, bundles } = source
      archive.keep(
        {
          generation,
          digest,
          state: 'live',
          at: now(),
          tookMs,
          mappings,
          changes,
          diagnostics,
          ...actorOf(),
        },
        { digest, sources: configuration.sources, bundles },
      )
      const swap = { generation, digest, tookMs, changes }
      emit({ type: 'snapshot-swapped', ...swap, mappings, warnings: diagnostics, ...rolledBack })
      if (heldKeys.length > 0) emit({ type: 'restart-required', generation, keys: heldKeys })
      return { outcome: 'live', ok: true, ...swap, diagnostics, ...rolledBack }
    },
    unchanged(diagnostics: readonly Diagnostic[], begun: number, digest: string | undefined): ReloadResult {
      const result = stay('unchanged', diagnostics, begun)
      emit({ type: 'content-unchanged', generation: result.generation ?? 0, tookMs: result.tookMs })
      return { ...result, digest }
    },
    /** `rollbackTo` is the generation of a failed rollback. */
    rejected(
      diagnostics: readonly Diagnostic[],
      begun: number,
      digest?: string,
      rollbackTo?: number,
    ): ReloadResult {
      const result = stay('rejected', diagnostics, begun)
      const { tookMs } = result
      const identity = digest === undefined ? {} : { digest }
      const origin = rollbackTo === undefined ? {} : { rollbackTo }
      archive.note({
        state: 'rejected',
        ...identity,
        at: now(),
        tookMs,
        changes: noChanges,
        diagnostics,
        ...actorOf(),
      })
      emit({ type: 'candidate-rejected', diagnostics, ...identity, tookMs, ...origin })
      return { ...result, ...identity }
    },
    stay,
  }
}
