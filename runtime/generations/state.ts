/** The archive's index of generations in memory, and its updates. Contents are on disk. */

import {
  type Diagnostic,
  type GenerationContent,
  type GenerationRecord,
  isRefusedAgain,
  keptGenerations,
  type Rollback,
} from '@reveille/engine'

/** A record with its number. Its `state` was set when it was made; {@link ArchiveState.live} has the current one. */
export type NumberedRecord = GenerationRecord & { readonly generation: number; readonly digest: string }

/** A generation that went live. */
export interface KeptGeneration {
  readonly record: NumberedRecord
  /** The digests of its bundles. */
  readonly bundles: readonly string[]
  /** Present until it is on the disk. */
  readonly content?: GenerationContent
}

/** A candidate that was refused; `number` counts them. */
export interface RefusedCandidate {
  readonly number: number
  readonly record: GenerationRecord
}

export interface ArchiveState {
  /** The highest generation number that was ever assigned. */
  readonly highest: number
  /** The generation that went live last comes first. */
  readonly kept: readonly KeptGeneration[]
  /** Newest first. */
  readonly refused: readonly RefusedCandidate[]
  readonly rollback: Rollback | undefined
  /** Absent: nothing went live in this process yet. */
  readonly live?: number
}

export const emptyState: ArchiveState = { highest: 0, kept: [], refused: [], rollback: undefined }

export function generationFor({ kept, highest }: ArchiveState, digest: string): number {
  return kept.find(({ record }) => record.digest === digest)?.record.generation ?? highest + 1
}

export function addLive(
  state: ArchiveState,
  record: NumberedRecord,
  content: GenerationContent,
): ArchiveState {
  const { generation } = record
  const previous = state.kept.find((each) => each.record.generation === generation)
  // After a restart the generation was compared with nothing, so the changes that were recorded before are kept.
  const isRestart = previous !== undefined && state.live === undefined
  const added: KeptGeneration = {
    record: limitDiagnostics(isRestart ? { ...record, ...changesOf(previous.record) } : record),
    bundles: [...content.bundles.values()].map(({ digest }) => digest),
    content,
  }
  return {
    ...state,
    live: generation,
    highest: Math.max(state.highest, generation),
    kept: [added, ...state.kept.filter((each) => each !== previous)].slice(0, keptGenerations),
  }
}

export function addRefused(state: ArchiveState, record: GenerationRecord): ArchiveState {
  const [last, ...earlier] = state.refused
  const number = (last?.number ?? 0) + 1
  const others = last && isRefusedAgain(last.record, record) ? earlier : state.refused
  const refused = [{ number, record: limitDiagnostics(record) }, ...others]
  return { ...state, refused: refused.slice(0, keptGenerations) }
}

function changesOf({ changes, by }: NumberedRecord): Pick<GenerationRecord, 'changes' | 'by'> {
  return { changes, ...(by !== undefined && { by }) }
}

/** Removes a generation whose files are missing or altered. The live one stays in the list. */
export function dropGeneration(state: ArchiveState, generation: number): ArchiveState {
  if (generation === state.live) return state
  return { ...state, kept: state.kept.filter(({ record }) => record.generation !== generation) }
}

/** Drops the content of an entry that is on the disk. */
export function markWritten(state: ArchiveState, written: KeptGeneration): ArchiveState {
  const kept = state.kept.map((each) => {
    if (each.content === undefined || each.content !== written.content) return each
    const { content: _, ...rest } = each
    return rest
  })
  return { ...state, kept }
}

/** The records, newest first. On equal times, a generation that went live precedes a refused candidate. */
export function recordsOf({ kept, refused, live }: ArchiveState): readonly GenerationRecord[] {
  const numbered = kept.map(
    ({ record }): GenerationRecord => ({
      ...record,
      state: record.generation === live ? 'live' : 'retired',
    }),
  )
  const all = [...numbered, ...refused.map(({ record }) => record)]
  return all.sort((one, other) => other.at - one.at)
}

/** Records stay in memory, and ten thousand mappings can have as many errors. */
const maxDiagnostics = 100

function limitDiagnostics<Kind extends GenerationRecord>(record: Kind): Kind {
  const { diagnostics } = record
  const more = diagnostics.length - maxDiagnostics
  if (more <= 0) return record
  const rest: Diagnostic = {
    severity: record.state === 'rejected' ? 'error' : 'warning',
    code: 'MORE_DIAGNOSTICS',
    message: `There were ${more} more; the first ${maxDiagnostics} are kept`,
    hint: '`reveille check` lists all of those that the files have now.',
  }
  return { ...record, diagnostics: [...diagnostics.slice(0, maxDiagnostics), rest] }
}
