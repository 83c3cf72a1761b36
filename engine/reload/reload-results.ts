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
    digest?: string,
  ): ReloadResult {
    const identity = { generation: serving(), ...(digest !== undefined && { digest }) }
    const ok = outcome !== 'rejected'
    return { outcome, ok, ...identity, tookMs: now() - begun, changes: noChanges, diagnostics }
  }

  /** The facts of a record that its result lacks. */
  function recorded() {
    const by = actor()
    return { at: now(), ...(by !== undefined && { by }) }
  }

  return {
    /** Reports that another generation is live. `rolledBack` means in place of the files. */
    live(candidate: Candidate, { generation, begun, warnings, rolledBack }: Swapped): ReloadResult {
      const { source, snapshot, changes, heldKeys } = candidate
      const { digest } = snapshot
      const mappings = snapshot.mappings.length
      const diagnostics = [...warnings, ...candidate.warnings]
      const facts = { generation, digest, tookMs: now() - begun, changes, diagnostics }
      const { configuration, bundles } = source
      archive.keep(
        { ...facts, state: 'live', mappings, ...recorded() },
        { digest, sources: configuration.sources, bundles },
      )
      const result = { outcome: 'live', ok: true, ...facts, ...(rolledBack && { rolledBack }) } as const
      emit({ type: 'snapshot-swapped', ...result, mappings })
      if (heldKeys.length > 0) emit({ type: 'restart-required', generation, keys: heldKeys })
      return result
    },
    unchanged(diagnostics: readonly Diagnostic[], begun: number, digest: string | undefined): ReloadResult {
      const result = stay('unchanged', diagnostics, begun, digest)
      emit({ type: 'content-unchanged', ...result })
      return result
    },
    /** `rollbackTo` is the generation of a failed rollback. */
    rejected(
      diagnostics: readonly Diagnostic[],
      begun: number,
      digest?: string,
      rollbackTo?: number,
    ): ReloadResult {
      const result = stay('rejected', diagnostics, begun, digest)
      const { outcome: state, ok: _ok, generation: _live, ...facts } = result
      archive.note({ ...facts, state: state as 'rejected', ...recorded() })
      emit({ type: 'candidate-rejected', ...result, ...(rollbackTo !== undefined && { rollbackTo }) })
      return result
    },
    stay,
  }
}
