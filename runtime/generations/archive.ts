/** Keeps generations in the data folder. It answers from memory and writes in the background. */

import { isDeepStrictEqual } from 'node:util'
import type { GenerationArchive, GenerationContent } from '@reveille/engine'
import { StoreError } from '../store/port.ts'
import { createLayout, type Layout } from './layout.ts'
import { isAbsent, isOfDisk, readContent, readRecord, readState, reasonOf } from './reading.ts'
import type { ArchiveState, NumberedRecord } from './state.ts'
import * as states from './state.ts'
import { createWriting, type WriteState } from './writing.ts'

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
  /** The absolute paths of a kept generation's files. */
  filesOf(generation: number): Promise<readonly string[] | undefined>
  /** The digests of the bundles that kept generations need; others may be removed. */
  neededBundles(): ReadonlySet<string>
  /** Writes what is left. Nothing is written after it. */
  close(): Promise<void>
}

/** Reads the folder, and writes nothing before {@link DiskArchive.begin}. */
export async function openGenerationArchive(options: ArchiveOptions): Promise<DiskArchive> {
  const { folder, configFile } = options
  const layout = createLayout(folder, configFile)
  const opened = continued((await readState(layout)).state, options)
  let state = opened
  /** The changes before the folder belonged to this process. */
  let early: ((state: ArchiveState) => ArchiveState)[] | undefined = []
  let write: WriteState | undefined
  let saving: Promise<void> | undefined
  let isChanged = false
  let isFailing = false
  let isLast = false

  function change(next: (state: ArchiveState) => ArchiveState): void {
    early?.push(next)
    state = next(state)
    save()
  }

  function save(): void {
    isChanged = true
    if (write) saving ??= saveAll(write)
  }

  /** Writes one state at a time; changes meanwhile are part of the next one. */
  async function saveAll(write: WriteState): Promise<void> {
    while (isChanged) {
      isChanged = false
      try {
        await write(state, (entry) => (state = states.markWritten(state, entry)), isLast)
        isFailing = false
      } catch (error) {
        if (!isFailing) options.onFailed(error)
        isFailing = true
      }
    }
    saving = undefined
  }

  async function begin(): Promise<void> {
    const read = await readState(layout)
    const found = { ...read, state: continued(read.state, options) }
    // Until the data folder was locked, another gateway may have written here.
    refuseOverlap(opened, found.state, state, folder)
    state = (early ?? []).reduce((next, step) => step(next), found.state)
    early = undefined
    if (found.damaged.length > 0) options.onDamaged(found.damaged)
    write = createWriting(layout, found)
    save()
    await saving
  }

  return {
    list: () => states.recordsOf(state),
    numberOf: (digest) => states.generationFor(state, digest),
    keep(record, content) {
      const numbered: NumberedRecord = { ...record, digest: content.digest }
      change((before) => states.addLive(before, numbered, content))
    },
    note: (record) => change((before) => states.addRefused(before, record)),
    async read(generation) {
      const kept = state.kept.find(({ record }) => record.generation === generation)
      if (kept === undefined || kept.content) return kept?.content
      const onLost = () => change((before) => states.dropGeneration(before, generation))
      return readKept(layout, generation, options, onLost)
    },
    rollback: () => state.rollback,
    setRollback(rollback) {
      if (!isDeepStrictEqual(rollback, state.rollback)) change((before) => ({ ...before, rollback }))
    },
    begin,
    saved: async () => saving,
    async filesOf(generation) {
      const kept = state.kept.find(({ record }) => record.generation === generation)
      return kept && (kept.content ? [...kept.content.sources.keys()] : filesIn(layout, generation))
    },
    neededBundles: () => new Set(state.kept.flatMap(({ bundles }) => bundles)),
    async close() {
      isLast = true
      save()
      await saving
      write = undefined
    },
  }
}

/** A store that was restored without its generations knows which numbers were given before. */
function continued(found: ArchiveState, { highestElsewhere }: ArchiveOptions): ArchiveState {
  return found.highest > 0 ? found : { ...found, highest: highestElsewhere?.() ?? 0 }
}

async function filesIn(layout: Layout, generation: number): Promise<readonly string[]> {
  const { files } = await readRecord(layout, generation)
  return files.map(({ path }) => layout.fromWritten(path, 'configuration'))
}

async function readKept(
  layout: Layout,
  generation: number,
  { configFile, onDamaged }: ArchiveOptions,
  onLost: () => void,
): Promise<GenerationContent | undefined> {
  try {
    return await readContent(layout, generation, configFile)
  } catch (error) {
    onDamaged([`${layout.generationFolder(generation)}: ${reasonOf(error)}`])
    // An error of the disk may pass; a file that is missing or altered is lost.
    if (isAbsent(error) || !isOfDisk(error)) onLost()
    return undefined
  }
}

/** @throws StoreError `LOCKED` when another gateway has used a number that went live here, or changed the rollback */
function refuseOverlap(opened: ArchiveState, now: ArchiveState, mine: ArchiveState, folder: string): void {
  const taken = (number: number, digest: string) =>
    number <= now.highest &&
    !now.kept.some(({ record }) => record.generation === number && record.digest === digest)
  const isTaken = mine.kept.some(
    ({ record, content }) => content !== undefined && taken(record.generation, record.digest),
  )
  if (!isTaken && isDeepStrictEqual(now.rollback, opened.rollback)) return
  throw new StoreError('LOCKED', `another process used ${folder} until a moment ago: start again`)
}
