/** Keeps generations in the data folder. It answers from memory and writes in the background. */

import { isDeepStrictEqual } from 'node:util'
import {
  type Diagnostic,
  type GenerationArchive,
  type GenerationContent,
  type GenerationRecord,
  isRefusedAgain,
  keptGenerations,
  type Rollback,
} from '@reveille/engine'
import { repeatIfAsked } from '../repeat-if-asked.ts'
import { StoreError } from '../store/port.ts'
import {
  createGenerationFiles,
  digestsOf,
  type GenerationFiles,
  isLost,
  type KeptGeneration,
  type NumberedRecord,
} from './generation-files.ts'

export interface ArchiveOptions {
  /** `generations` in the data folder; absolute, need not exist. */
  readonly folder: string
  /** Absolute. Generations of another configuration file are not served again. */
  readonly configFile: string
  /** The highest number that is in use elsewhere. It is called if no number was ever given here. Default: 0. */
  readonly highestElsewhere?: () => number
  /** Is called when files are found that cannot be used. */
  onDamaged(found: readonly string[]): void
  /** Is called when writing fails, once until it works again. It is tried again with each change. */
  onFailed(error: unknown): void
}

export interface DiskArchive extends GenerationArchive {
  /**
   * To be called when the data folder belongs to this process alone: writes what happened so far, and from now on everything.
   * @throws StoreError `LOCKED` when another gateway gave out the same number until a moment ago
   */
  begin(): Promise<void>
  /** Resolves when everything so far is on the disk, or writing it has failed. */
  saved(): Promise<void>
  /** The digests of the bundles that kept generations need; others may be removed. */
  neededBundles(): ReadonlySet<string>
  /** Writes what is left. Nothing is written after it. */
  close(): Promise<void>
}

/**
 * Number of generations by which the index on the disk is ahead while a gateway runs, so that numbers that went live and were not written
 * before it died are not given again. A gateway that closes writes the true number.
 */
const ahead = 8

interface ArchiveState {
  /** The highest generation number that was ever assigned. */
  highest: number
  rollback: Rollback | undefined
  /** Newest first. */
  refused: readonly GenerationRecord[]
  /** The generation that went live last comes first. */
  kept: readonly KeptGeneration[]
  /** The numbers of the generations on the disk. */
  readonly onDisk: Set<number>
}

/** Reads the folder, and writes nothing before {@link DiskArchive.begin}. */
export async function openGenerationArchive(options: ArchiveOptions): Promise<DiskArchive> {
  const { folder, configFile } = options
  const files = createGenerationFiles(folder, configFile)
  let { state } = await readState(files, options)
  const rollbackBefore = state.rollback
  /** The number of the generation that is live in this process. */
  let live: number | undefined
  /** The changes before the folder belonged to this process. */
  let early: (() => void)[] | undefined = []
  const saving = createSaving((isLast) => write(files, state, isLast), options.onFailed)

  function change(step: () => void): void {
    early?.push(step)
    step()
    void saving.save()
  }

  return {
    list: () => recordsOf(state, live),
    numberOf: (digest) =>
      state.kept.find(({ record }) => record.digest === digest)?.record.generation ?? state.highest + 1,
    keep(record, content) {
      const isRestart = live === undefined
      live = record.generation
      change(() => addLive(state, { ...record, digest: content.digest }, content, isRestart))
    },
    note: (record) => change(() => addRefused(state, record)),
    async read(generation) {
      const entry = find(state, generation)
      if (entry === undefined || entry.content) return entry?.content
      try {
        return await files.readContent(generation)
      } catch (error) {
        options.onDamaged([files.damageOf(generation, error)])
        // The live one stays in the list.
        if (isLost(error) && generation !== live) change(() => drop(state, generation))
        return undefined
      }
    },
    rollback: () => state.rollback,
    setRollback(rollback) {
      if (isDeepStrictEqual(rollback, state.rollback)) return
      change(() => {
        state.rollback = rollback
      })
    },
    async begin() {
      // Until the data folder was locked, another gateway may have written here.
      const now = await readState(files, options)
      if (isTaken(state, now.state) || !isDeepStrictEqual(now.state.rollback, rollbackBefore))
        throw new StoreError('LOCKED', `another process used ${folder} until a moment ago: start again`)
      state = now.state
      for (const step of early ?? []) step()
      early = undefined
      if (now.damaged.length > 0) options.onDamaged(now.damaged)
      await saving.begin()
    },
    saved: saving.save,
    neededBundles: () => new Set(state.kept.flatMap(({ bundles }) => bundles)),
    close: saving.close,
  }
}

/** Writes in the background, one state at a time, and nothing before `begin` or after `close`. */
function createSaving(write: (isLast: boolean) => Promise<void>, onFailed: (error: unknown) => void) {
  let mayWrite = false
  let isFailing = false
  let isLast = false

  const saveAll = repeatIfAsked(async () => {
    try {
      await write(isLast)
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailed(error)
      isFailing = true
    }
  })
  const save = async () => (mayWrite ? saveAll() : undefined)

  return {
    save,
    begin(): Promise<void> {
      mayWrite = true
      return saveAll()
    },
    async close(): Promise<void> {
      isLast = true
      await save()
      mayWrite = false
    },
  }
}

async function readState(files: GenerationFiles, { highestElsewhere }: ArchiveOptions) {
  const { index, kept, damaged } = await files.readAll()
  kept.sort((one, other) => other.record.at - one.record.at)
  const state: ArchiveState = {
    // A store that was restored without its generations knows which numbers were given before.
    highest: index.highest || (highestElsewhere?.() ?? 0),
    rollback: index.rollback,
    refused: index.refused,
    kept: kept.slice(0, keptGenerations),
    onDisk: new Set(kept.map(({ record }) => record.generation)),
  }
  return { state, damaged }
}

/** Old generations are removed last, so a crash in between leaves an archive that holds a little too much. */
async function write(files: GenerationFiles, state: ArchiveState, isLast: boolean): Promise<void> {
  await files.makeFolder()
  for (const entry of state.kept.toReversed()) {
    if (entry.content === undefined) continue
    await files.writeGeneration(entry.record, entry.content)
    state.onDisk.add(entry.record.generation)
    entry.content = undefined
  }
  const { highest, rollback, refused } = state
  await files.writeIndex({ highest: isLast ? highest : highest + ahead, rollback, refused })
  for (const generation of state.onDisk) {
    if (find(state, generation)) continue
    await files.remove(generation)
    state.onDisk.delete(generation)
  }
}

function find({ kept }: ArchiveState, generation: number): KeptGeneration | undefined {
  return kept.find(({ record }) => record.generation === generation)
}

function drop(state: ArchiveState, generation: number): void {
  state.kept = state.kept.filter(({ record }) => record.generation !== generation)
}

/** `isRestart`: the generation was compared with nothing, so the changes that were recorded before are kept. */
function addLive(
  state: ArchiveState,
  record: NumberedRecord,
  content: GenerationContent,
  isRestart: boolean,
): void {
  const { generation } = record
  const { changes, by = record.by } = (isRestart && find(state, generation)?.record) || record
  drop(state, generation)
  const added: KeptGeneration = {
    record: { ...limitDiagnostics(record), changes, ...(by !== undefined && { by }) },
    bundles: digestsOf(content.bundles.values()),
    content,
  }
  state.kept = [added, ...state.kept].slice(0, keptGenerations)
  state.highest = Math.max(state.highest, generation)
}

function addRefused(state: ArchiveState, record: GenerationRecord): void {
  const [last, ...earlier] = state.refused
  const others = last && isRefusedAgain(last, record) ? earlier : state.refused
  state.refused = [limitDiagnostics(record), ...others].slice(0, keptGenerations)
}

/** True if another gateway has used a number that went live here. */
function isTaken(mine: ArchiveState, now: ArchiveState): boolean {
  return mine.kept.some(
    ({ record, content }) =>
      content !== undefined &&
      record.generation <= now.highest &&
      find(now, record.generation)?.record.digest !== record.digest,
  )
}

/** The records, newest first. On equal times, a generation that went live precedes a refused candidate. */
function recordsOf({ kept, refused }: ArchiveState, live: number | undefined): readonly GenerationRecord[] {
  const numbered = kept.map(({ record }): GenerationRecord => {
    return { ...record, state: record.generation === live ? 'live' : 'retired' }
  })
  return [...numbered, ...refused].sort((one, other) => other.at - one.at)
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
