/**
 * Holds the live snapshot, and replaces it by another.
 * States of a reload: idle -> building -> (superseded | unchanged | rejected | swapped) -> idle. One reload runs at a
 * time. A caller who comes while a candidate is being built waits for the next reload, because only that one is sure to
 * see the caller's change. A reload is given up before it prepares anything if another one waits behind it, so that the
 * latest change wins. After a few in a row were given up, one is finished all the same, so that a file that changes
 * constantly cannot keep everything else from going live. `serving` is assigned in `swap` and nowhere else.
 * Files that the watcher noticed and that may be half saved rest: they are loaded a second time later, and go live if
 * they are still the same. A reload by an operator does not wait for that.
 */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Settings } from '../config/settings.ts'
import type { Transforms } from '../transform/port.ts'
import {
  type BuildContext,
  type Built,
  buildCandidate,
  type Candidate,
  type CandidateParts,
  type CandidateSource,
} from './candidate.ts'
import type { GenerationArchive, GenerationContent, GenerationRecord } from './generation.ts'
import type { CurrentLive, Live } from './live.ts'
import { closing, generationNotKept, overruled, rollbackLost, rolledBack } from './reload-diagnostics.ts'
import type { ReloadEvent, ReloadListener, ReloadResult } from './reload-event.ts'
import { createReloadQueue } from './reload-queue.ts'
import { createReloadResults } from './reload-results.ts'
import { mayBeUnfinished } from './unfinished.ts'
import type { Watch, Watcher, WatchSettings } from './watcher.ts'

/** The number of reloads in a row that may be given up before one is finished. */
const maxSuperseded = 2

export interface ReloaderOptions extends CandidateParts {
  /** Creates the watcher after the first successful load. Absent: only {@link Reloader.reload} reloads. */
  readonly watch?: Watch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Settings in place of those in `hooks.reload`. `restMs` is how long files that may be half saved must stay unchanged. */
  readonly watchSettings?: WatchSettings & { readonly restMs?: number }
  /** Calls back after so many milliseconds. Returns what cancels that. Default: a timer of the process. */
  readonly after?: (ms: number, act: () => void) => () => void
  readonly archive: GenerationArchive
  /** The settings that the process was started with. Boot-only settings keep their values. */
  readonly boot?: Settings
}

/** A generation that is kept, or texts in place of some of the files, by path. */
export type DryRunSource = number | ReadonlyMap<string, string>

interface DryRunSides {
  readonly live: Snapshot
  readonly candidate: Snapshot
  /** True if a reload or a rollback waits. Then the results so far have to suffice. */
  isGivenUp(): boolean
}

/** Compares both sides. */
type Inspect<Seen> = (sides: DryRunSides) => Promise<Seen>

/** `result.outcome` is `live` if the candidate would go live. */
export interface DryRunResult<Seen> {
  readonly result: ReloadResult
  /** Absent if there was no candidate to inspect. */
  readonly seen?: Seen
}

interface ReloadWanted {
  readonly endsRollback?: boolean
  /** The caller, which is kept in the record of the generation. */
  readonly by?: string
}

export interface Reloader {
  /** Returns the live snapshot. @throws Error before the first successful load */
  readonly current: CurrentLive
  /** Runs the first load. If it succeeds, files are watched from then on. */
  start(): Promise<ReloadResult>
  /**
   * Loads again. Resolves with the result of a load that began after the call. With `endsRollback` the files go live
   * even if they are those that were rolled back from; by default such files wait for a change. @throws Error once
   * closed
   */
  reload(options?: ReloadWanted): Promise<ReloadResult>
  /**
   * Makes an old generation live again, until the files change or a reload ends it; also after a restart. A generation
   * that is not kept any more is rejected. @throws Error once closed
   */
  rollback(generation: number, by?: string): Promise<ReloadResult>
  /**
   * Builds a candidate of the current files, passes it to `inspect`, and releases it. Nothing goes live, and only the
   * caller gets the result. With a generation the candidate is that of a rollback; with texts by path they are read in
   * place of these files. `isForRequests`: no tests are run, nothing but transforms starts, and content that is live
   * already is inspected too. @throws Error once closed, or before the first successful load
   */
  dryRun<Seen>(
    inspect: Inspect<Seen>,
    source?: DryRunSource,
    isForRequests?: boolean,
  ): Promise<DryRunResult<Seen>>
  /** Returns what the live snapshot was made from. @throws Error before the first successful load */
  source(): LiveSource
  /** Lists the newest first. */
  generations(): readonly GenerationRecord[]
  /** Calls listeners after each event, in the order of the events. Returns a function that ends the subscription. */
  subscribe(listener: ReloadListener): () => void
  /** Stops watching and waits for the running work, whose candidate is not swapped in. */
  close(): Promise<void>
}

export interface LiveSource {
  readonly configuration: Configuration
  /** The transforms that live mappings call. Absent: there are none. */
  readonly transforms?: Transforms
}

/** The result of a build that was finished. */
type Concluded = Exclude<Built, { outcome: 'superseded' | 'resting' }>

/** The live snapshot with its source. */
interface Serving {
  readonly live: Live
  readonly candidate: Candidate
}

class LiveReloader implements Reloader {
  readonly #options: ReloaderOptions
  readonly #now: ReloaderOptions['now']
  readonly #archive: GenerationArchive
  readonly #listeners = new Set<ReloadListener>()
  readonly #queue = createReloadQueue()
  readonly #results: ReturnType<typeof createReloadResults>
  #serving: Serving | undefined
  #watcher: Watcher | undefined
  #watched: readonly string[] = []
  /** The digest of the last loaded files, whether they went live or not. */
  #filesDigest: string | undefined
  #closed = false
  /** True if the next reload of the files ends a rollback. */
  #endsRollback = false
  /** True if an operator asks for the next reload, who knows that the files are whole. */
  #isAsked = false
  /** Callers of the next reload, and of the one that runs. */
  #askedBy: string | undefined
  #actor: string | undefined
  /** Files that may be half saved, and whether they have rested since. */
  #resting: { readonly digest: string; isOver: boolean; cancel(): void } | undefined
  /** The number of waiting rollbacks. */
  #rollbacks = 0

  constructor(options: ReloaderOptions) {
    this.#options = options
    this.#now = options.now
    this.#archive = options.archive
    this.#results = createReloadResults({
      now: options.now,
      archive: this.#archive,
      emit: (event) => this.#emit(event),
      serving: () => this.#serving?.live.generation,
      actor: () => this.#actor,
    })
  }

  /** Bound, because whoever serves requests holds this function alone. */
  readonly current: CurrentLive = () => {
    if (!this.#serving) throw new Error('Nothing is live before the first load went well')
    return this.#serving.live
  }

  async reload(wanted: ReloadWanted = {}): Promise<ReloadResult> {
    this.#refuseClosed()
    this.#endsRollback ||= wanted.endsRollback ?? false
    this.#isAsked = true
    this.#askedBy = wanted.by ?? this.#askedBy
    return this.#queue.reload(() => this.#reloadFiles())
  }

  async rollback(generation: number, by?: string): Promise<ReloadResult> {
    this.#refuseClosed()
    this.#rollbacks++
    return this.#queue.add(() => {
      this.#rollbacks--
      return this.#rollBackTo(generation, by)
    })
  }

  async dryRun<Seen>(
    inspect: Inspect<Seen>,
    source?: DryRunSource,
    isForRequests = false,
  ): Promise<DryRunResult<Seen>> {
    this.#refuseClosed()
    // What is live need not wait for a reload.
    if (isForRequests && source === this.current().generation)
      return this.#inspectLive(inspect, this.#results.stay('unchanged', [], this.#now()))
    return this.#queue.add(() => this.#dryRun(inspect, source, isForRequests))
  }

  source(): LiveSource {
    this.current()
    const { source, transforms } = (this.#serving as Serving).candidate
    return { configuration: source.configuration, ...(transforms && { transforms }) }
  }

  generations() {
    return this.#archive.list()
  }

  async start(): Promise<ReloadResult> {
    const result = await this.reload()
    if (result.ok && !this.#closed) {
      this.#watcher ??= this.#options.watch?.({
        ...this.#watchSettings(),
        onChange: async () => this.#closed || this.#queue.reload(() => this.#reloadFiles()),
        onError: (error) => this.#emit({ type: 'watch-failed', error }),
      })
      this.#watcher?.watch(this.#watched)
    }
    return result
  }

  subscribe(listener: ReloadListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#endRest()
    await this.#watcher?.close()
    await this.#queue.idle()
    this.#serving?.candidate.retire()
  }

  #emit(event: ReloadEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #swap(candidate: Candidate): { readonly live: Live; readonly before: Serving | undefined } {
    const before = this.#serving
    const { snapshot } = candidate
    const live = Object.freeze({ generation: this.#archive.numberOf(snapshot.digest), snapshot })
    this.#serving = { live, candidate }
    return { live, before }
  }

  async #reloadFiles(): Promise<ReloadResult> {
    let rollback = this.#archive.rollback()
    let believes = false
    this.#actor = undefined
    for (let superseded = 0; ; superseded++) {
      const begun = this.#now()
      // Refused files leave the rollback as it was.
      if (this.#endsRollback) rollback = undefined
      this.#endsRollback = false
      believes ||= this.#isAsked
      this.#isAsked = false
      this.#actor = this.#askedBy ?? this.#actor
      this.#askedBy = undefined
      const built = await buildCandidate(this.#options, {
        ...this.#contextOf(),
        isPassed: (digest) => this.#serving !== undefined && digest === rollback?.filesDigest,
        isSuperseded: () => this.#closed || (this.#queue.isReloadWaiting() && superseded < maxSuperseded),
        mustRest: async (source, digest) => !believes && (await this.#mustRest(source, digest)),
        overruled: () => (this.#rollbacks > 0 ? overruled : undefined),
      })
      if (built.outcome === 'superseded') {
        if (this.#closed) return this.#results.stay('rejected', [closing], begun)
        this.#queue.joinWaiting()
        continue
      }
      this.#filesDigest = built.digest
      if (built.outcome === 'resting') return this.#rest(built.digest, begun)
      this.#endRest()
      if (rollback && this.#filesDigest === rollback.filesDigest) {
        const held = await this.#holdRollback(rollback.generation, built, begun)
        if (held) return held
        return this.#conclude(built, begun, [rollbackLost(rollback.generation)])
      }
      return this.#conclude(built, begun)
    }
  }

  async #mustRest(source: CandidateSource, digest: string): Promise<boolean> {
    if (this.#serving === undefined || this.#restMs() === 0) return false
    if (this.#resting?.digest === digest && this.#resting.isOver) return false
    return mayBeUnfinished(this.#serving.candidate.source, source)
  }

  /** Loads the files again after the rest. Files that changed meanwhile rest from then on. */
  #rest(digest: string, begun: number): ReloadResult {
    if (this.#resting?.digest !== digest) {
      this.#endRest()
      const since = { digest, isOver: false, cancel: () => {} }
      since.cancel = (this.#options.after ?? afterTimer)(this.#restMs(), () => {
        since.isOver = true
        if (!this.#closed) void this.#queue.reload(() => this.#reloadFiles())
      })
      this.#resting = since
    }
    // No event: most such states last for an instant.
    return this.#results.stay('unchanged', [], begun)
  }

  #endRest(): void {
    this.#resting?.cancel()
    this.#resting = undefined
  }

  #restMs(): number {
    return this.#options.watchSettings?.restMs ?? this.current().snapshot.settings.hooks.reload.restMs
  }

  /** The files are those that were rolled back from, and wait for a change. Undefined: nothing holds them back. */
  async #holdRollback(
    generation: number,
    built: Concluded,
    begun: number,
  ): Promise<ReloadResult | undefined> {
    if (this.#serving) {
      if (built.outcome === 'ready') await built.candidate.discard()
      return this.#results.unchanged([rolledBack(this.current().generation)], begun, this.#filesDigest)
    }
    const kept = await this.#archive.read(generation)
    if (kept === undefined) return undefined
    const again = await buildCandidate(this.#options, this.#contextOf(kept))
    if (again.outcome !== 'ready') return undefined
    if (built.outcome === 'ready') await built.candidate.discard()
    return this.#goLive(again.candidate, begun, { isRollback: true, warnings: [rolledBack(generation)] })
  }

  async #rollBackTo(generation: number, by: string | undefined): Promise<ReloadResult> {
    this.#actor = by
    const begun = this.#now()
    const kept = await this.#archive.read(generation)
    if (kept === undefined)
      return this.#results.stay('rejected', [generationNotKept(generation, this.#archive.list())], begun)
    const built = await buildCandidate(this.#options, this.#contextOf(kept))
    if (built.outcome === 'superseded' || built.outcome === 'resting')
      return this.#results.stay('rejected', [closing], begun)
    if (built.outcome === 'unchanged') {
      const isHeld = this.#holdAgainstFiles(this.current().generation, built.digest)
      return this.#results.unchanged(
        [...(isHeld ? [rolledBack(generation)] : []), ...built.warnings],
        begun,
        built.digest,
      )
    }
    if (built.outcome === 'rejected')
      return this.#results.rejected(built.diagnostics, begun, built.digest, generation)
    return this.#goLive(built.candidate, begun, { isRollback: true })
  }

  /** Holds a generation until the files change, if their content differs from it now. Returns whether it does. */
  #holdAgainstFiles(generation: number, digest: string): boolean {
    const filesDigest = this.#filesDigest
    const isOther = filesDigest !== undefined && filesDigest !== digest
    this.#archive.setRollback(isOther ? { generation, filesDigest } : undefined)
    return isOther
  }

  #contextOf(kept?: GenerationContent): BuildContext {
    return {
      ...(this.#serving && {
        live: { ...this.#serving.candidate.source, snapshot: this.#serving.live.snapshot },
      }),
      ...(this.#options.boot && { boot: this.#options.boot }),
      ...(kept && { kept }),
      isSuperseded: () => this.#closed,
      onWatched: (paths) => {
        this.#watched = paths
        this.#watcher?.watch(paths)
      },
    }
  }

  async #conclude(
    built: Concluded,
    begun: number,
    warnings: readonly Diagnostic[] = [],
  ): Promise<ReloadResult> {
    if (built.outcome === 'ready') return this.#goLive(built.candidate, begun, { warnings })
    if (built.outcome === 'unchanged') {
      // The content of the files is live, so the next change goes live, even one back to what was rolled back from.
      this.#archive.setRollback(undefined)
      return this.#results.unchanged(built.warnings, begun, built.digest)
    }
    return this.#results.rejected([...built.diagnostics, ...warnings], begun, built.digest)
  }

  async #goLive(
    candidate: Candidate,
    begun: number,
    { isRollback = false, warnings = [] }: { isRollback?: boolean; warnings?: readonly Diagnostic[] } = {},
  ): Promise<ReloadResult> {
    if (this.#closed) {
      await this.#settle(() => candidate.discard())
      return this.#results.stay('rejected', [closing], begun)
    }
    const { live, before } = this.#swap(candidate)
    const { generation, snapshot } = live
    const isHeld = isRollback && this.#holdAgainstFiles(generation, snapshot.digest)
    if (!isRollback) this.#archive.setRollback(undefined)
    const result = this.#results.live(candidate, { generation, begun, warnings, rolledBack: isHeld })
    this.#watcher?.configure(this.#watchSettings())
    await this.#settle(() => candidate.commit())
    await this.#settle(() => before?.candidate.retire())
    return result
  }

  /** The decision about the snapshot is made at this point, so a failure is reported and changes nothing. */
  async #settle(step: () => Promise<void> | void | undefined): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#emit({ type: 'release-failed', error })
    }
  }

  async #dryRun<Seen>(
    inspect: Inspect<Seen>,
    source: DryRunSource | undefined,
    isForRequests: boolean,
  ): Promise<DryRunResult<Seen>> {
    const begun = this.#now()
    const kept = typeof source === 'number' ? await this.#archive.read(source) : undefined
    if (typeof source === 'number' && kept === undefined) {
      const reason = generationNotKept(source, this.#archive.list())
      return { result: this.#results.stay('rejected', [reason], begun) }
    }
    const { test, ...parts } = this.#options
    const built = await buildCandidate(isForRequests ? parts : { ...parts, test }, {
      ...this.#contextOf(kept),
      ...(typeof source === 'object' && { changed: source }),
      isDryRun: true,
      isForRequests,
      isSuperseded: () => this.#closed || (this.#rollbacks > 0 && !isForRequests),
    })
    switch (built.outcome) {
      case 'superseded':
      case 'resting':
        return { result: this.#results.stay('rejected', [this.#closed ? closing : overruled], begun) }
      case 'rejected':
        return { result: this.#results.stay('rejected', built.diagnostics, begun, built.digest) }
      case 'unchanged': {
        const result = this.#results.stay('unchanged', built.warnings, begun, built.digest)
        return isForRequests ? this.#inspectLive(inspect, result) : { result }
      }
    }
    const { snapshot, changes, warnings } = built.candidate
    try {
      const seen = await inspect(this.#sidesOf(snapshot))
      const result = this.#results.stay('live', warnings, begun, snapshot.digest)
      return { result: { ...result, changes }, seen }
    } finally {
      await this.#settle(() => built.candidate.discard())
    }
  }

  async #inspectLive<Seen>(inspect: Inspect<Seen>, result: ReloadResult): Promise<DryRunResult<Seen>> {
    return { result, seen: await inspect(this.#sidesOf(this.current().snapshot)) }
  }

  #sidesOf(candidate: Snapshot): DryRunSides {
    const isGivenUp = () => this.#closed || this.#queue.isAnyWaiting()
    return { live: this.current().snapshot, candidate, isGivenUp }
  }

  #watchSettings(): WatchSettings {
    const { debounceMs, poll } = this.current().snapshot.settings.hooks.reload
    return { debounceMs, poll, ...this.#options.watchSettings }
  }

  #refuseClosed(): void {
    if (this.#closed) throw new Error('The reloader is closed')
  }
}

export function createReloader(options: ReloaderOptions): Reloader {
  return new LiveReloader(options)
}
function afterTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms)
  return () => clearTimeout(timer)
}
