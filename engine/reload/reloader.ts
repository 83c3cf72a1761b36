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
  CandidateError,
  type CandidateParts,
  type CandidateSource,
} from './candidate.ts'
import { type DryRunResult, dryRunCandidate, type InspectCandidate } from './dry-run.ts'
import type { GenerationArchive, GenerationContent, GenerationRecord } from './generation.ts'
import type { CurrentLive, Live } from './live.ts'
import { createMemoryArchive } from './memory-archive.ts'
import { closing, notKept, overruled, rollbackLost, rolledBack } from './reload-diagnostics.ts'
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
  /** Default: an archive in memory. */
  readonly archive?: GenerationArchive
  /** The settings that the process was started with. Boot-only settings keep their values. */
  readonly boot?: Settings
}

interface ReloadWanted {
  readonly endsRollback?: boolean
  /** Who asks. The record of the generation keeps it. */
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
   * Builds a candidate of the current files, passes it to `inspect`, and releases it. Nothing goes live. With
   * `generation` the candidate is that of a rollback. @throws Error once closed, or before the first successful load
   */
  dryRun<Seen>(inspect: InspectCandidate<Seen>, generation?: number): Promise<DryRunResult<Seen>>
  /**
   * Builds the snapshot of a generation that is kept, passes it to `use`, and releases it. Its tests are not run.
   * Resolves with undefined for one that is not kept any more. @throws Error once closed, or before the first
   * successful load, or where its content does not compile any more
   */
  withGeneration<Result>(
    generation: number,
    use: (snapshot: Snapshot) => Promise<Result>,
  ): Promise<Result | undefined>
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

export function createReloader(options: ReloaderOptions): Reloader {
  const { now, archive = createMemoryArchive(), after = afterTimer } = options
  const listeners = new Set<ReloadListener>()
  let serving: Serving | undefined
  let watcher: Watcher | undefined
  let watched: readonly string[] = []
  /** The digest of the last loaded files, whether they went live or not. */
  let filesDigest: string | undefined
  let closed = false
  const queue = createReloadQueue()
  /** Whether the next reload of the files ends a rollback. */
  let endsRollback = false
  /** Whether an operator asks for the next reload, who knows that the files are whole. */
  let isAsked = false
  /** Who asked for the next reload, and for the one that runs. */
  let askedBy: string | undefined
  let actor: string | undefined
  /** Files that may be half saved, and whether they have rested since. */
  let resting: { readonly digest: string; isOver: boolean; cancel(): void } | undefined
  /** The number of waiting rollbacks. */
  let rollbacks = 0
  const results = createReloadResults({
    now,
    archive,
    emit,
    serving: () => serving?.live.generation,
    actor: () => actor,
  })

  function current(): Live {
    if (!serving) throw new Error('Nothing is live before the first load went well')
    return serving.live
  }

  function emit(event: ReloadEvent): void {
    for (const listener of listeners) listener(event)
  }

  function swap(candidate: Candidate): { readonly live: Live; readonly before: Serving | undefined } {
    const before = serving
    const { snapshot } = candidate
    const live = Object.freeze({ generation: archive.numberOf(snapshot.digest), snapshot })
    serving = { live, candidate }
    return { live, before }
  }

  async function reloadFiles(): Promise<ReloadResult> {
    let rollback = archive.rollback()
    let believes = false
    actor = undefined
    for (let superseded = 0; ; superseded++) {
      const begun = now()
      // Refused files leave the rollback as it was.
      if (endsRollback) rollback = undefined
      endsRollback = false
      believes ||= isAsked
      isAsked = false
      actor = askedBy ?? actor
      askedBy = undefined
      const built = await buildCandidate(options, {
        ...contextOf(),
        isPassed: (digest) => serving !== undefined && digest === rollback?.filesDigest,
        isSuperseded: () => closed || (queue.isReloadWaiting() && superseded < maxSuperseded),
        mustRest: async (source, digest) => !believes && (await mustRest(source, digest)),
        overruled: () => (rollbacks > 0 ? overruled : undefined),
      })
      if (built.outcome === 'superseded') {
        if (closed) return results.declined(closing, begun)
        queue.joinWaiting()
        continue
      }
      filesDigest = digestOf(built)
      if (built.outcome === 'resting') return rest(built.digest, begun)
      endRest()
      if (rollback && filesDigest === rollback.filesDigest) {
        const held = await holdRollback(rollback.generation, built, begun)
        if (held) return held
        return conclude(built, begun, [rollbackLost(rollback.generation)])
      }
      return conclude(built, begun)
    }
  }

  async function mustRest(source: CandidateSource, digest: string): Promise<boolean> {
    if (serving === undefined || restMs() === 0) return false
    if (resting?.digest === digest && resting.isOver) return false
    return mayBeUnfinished(serving.candidate.source, source)
  }

  /** Loads the files again after the rest. Files that changed meanwhile rest from then on. */
  function rest(digest: string, begun: number): ReloadResult {
    if (resting?.digest !== digest) {
      endRest()
      const since = { digest, isOver: false, cancel: () => {} }
      since.cancel = after(restMs(), () => {
        since.isOver = true
        if (!closed) void queue.reload(reloadFiles)
      })
      resting = since
    }
    return results.resting(begun)
  }

  function endRest(): void {
    resting?.cancel()
    resting = undefined
  }

  function restMs(): number {
    return options.watchSettings?.restMs ?? current().snapshot.settings.hooks.reload.restMs
  }

  /** The files are those that were rolled back from, and wait for a change. Undefined: nothing holds them back. */
  async function holdRollback(
    generation: number,
    built: Concluded,
    begun: number,
  ): Promise<ReloadResult | undefined> {
    if (serving) {
      if (built.outcome === 'ready') await built.candidate.discard()
      return results.unchanged([rolledBack(current().generation)], begun, filesDigest)
    }
    const kept = await archive.read(generation)
    if (kept === undefined) return undefined
    const again = await buildCandidate(options, contextOf(kept))
    if (again.outcome !== 'ready') return undefined
    if (built.outcome === 'ready') await built.candidate.discard()
    return goLive(again.candidate, begun, { isRollback: true, warnings: [rolledBack(generation)] })
  }

  async function rollBackTo(generation: number, by: string | undefined): Promise<ReloadResult> {
    actor = by
    const begun = now()
    const kept = await archive.read(generation)
    if (kept === undefined) return results.declined(notKept(generation, archive.list()), begun)
    const built = await buildCandidate(options, contextOf(kept))
    if (built.outcome === 'superseded' || built.outcome === 'resting') return results.declined(closing, begun)
    if (built.outcome === 'unchanged') {
      const isHeld = holdAgainstFiles(current().generation, built.digest)
      return results.unchanged(
        [...(isHeld ? [rolledBack(generation)] : []), ...built.warnings],
        begun,
        built.digest,
      )
    }
    if (built.outcome === 'rejected')
      return results.rejected(built.diagnostics, begun, built.digest, generation)
    return goLive(built.candidate, begun, { isRollback: true })
  }

  /** Holds a generation until the files change, if their content differs from it now. Returns whether it does. */
  function holdAgainstFiles(generation: number, digest: string): boolean {
    const isOther = filesDigest !== undefined && filesDigest !== digest
    archive.setRollback(isOther && filesDigest !== undefined ? { generation, filesDigest } : undefined)
    return isOther
  }

  function contextOf(kept?: GenerationContent): BuildContext {
    return {
      ...(serving && { live: { ...serving.candidate.source, snapshot: serving.live.snapshot } }),
      ...(options.boot && { boot: options.boot }),
      ...(kept && { kept }),
      isSuperseded: () => closed,
      onWatched(paths) {
        watched = paths
        watcher?.watch(paths)
      },
    }
  }

  async function conclude(
    built: Concluded,
    begun: number,
    warnings: readonly Diagnostic[] = [],
  ): Promise<ReloadResult> {
    if (built.outcome === 'ready') return goLive(built.candidate, begun, { warnings })
    if (built.outcome === 'unchanged') {
      // The content of the files is live, so the next change goes live, even one back to what was rolled back from.
      archive.setRollback(undefined)
      return results.unchanged(built.warnings, begun, built.digest)
    }
    return results.rejected([...built.diagnostics, ...warnings], begun, built.digest)
  }

  async function goLive(
    candidate: Candidate,
    begun: number,
    { isRollback = false, warnings = [] }: { isRollback?: boolean; warnings?: readonly Diagnostic[] } = {},
  ): Promise<ReloadResult> {
    if (closed) {
      await settle(() => candidate.discard())
      return results.declined(closing, begun)
    }
    const { live, before } = swap(candidate)
    const { generation, snapshot } = live
    const isHeld = isRollback && holdAgainstFiles(generation, snapshot.digest)
    if (!isRollback) archive.setRollback(undefined)
    const result = results.live(candidate, { generation, begun, warnings, rolledBack: isHeld })
    watcher?.configure(watchSettings())
    await settle(() => candidate.commit())
    await settle(() => before?.candidate.retire())
    return result
  }

  /** The decision about the snapshot is made at this point, so a failure is reported and changes nothing. */
  async function settle(step: () => Promise<void> | void | undefined): Promise<void> {
    try {
      await step()
    } catch (error) {
      emit({ type: 'release-failed', error })
    }
  }

  async function dryRun<Seen>(
    inspect: InspectCandidate<Seen>,
    generation?: number,
  ): Promise<DryRunResult<Seen>> {
    const kept = generation === undefined ? undefined : await archive.read(generation)
    if (generation !== undefined && kept === undefined) {
      return { result: results.declined(notKept(generation, archive.list()), now()) }
    }
    return dryRunCandidate(inspect, {
      parts: options,
      context: { ...contextOf(kept), isSuperseded: () => closed || rollbacks > 0 },
      live: current(),
      now,
      isClosed: () => closed,
      isGivenUp: () => closed || queue.isAnyWaiting(),
      settle,
    })
  }

  async function useGeneration<Result>(
    generation: number,
    use: (snapshot: Snapshot) => Promise<Result>,
  ): Promise<Result | undefined> {
    const kept = await archive.read(generation)
    if (kept === undefined) return undefined
    const { test: _test, ...parts } = options
    const built = await buildCandidate(parts, { ...contextOf(kept), isDryRun: true, isForRequests: true })
    if (built.outcome === 'superseded' || built.outcome === 'resting')
      throw new Error('The reloader is closed')
    if (built.outcome === 'unchanged') return use(current().snapshot)
    if (built.outcome === 'rejected') throw new CandidateError(built.diagnostics)
    try {
      return await use(built.candidate.snapshot)
    } finally {
      await settle(() => built.candidate.discard())
    }
  }

  function watchSettings(): WatchSettings {
    const { debounceMs, poll } = current().snapshot.settings.hooks.reload
    return { debounceMs, poll, ...options.watchSettings }
  }

  function refuseClosed(): void {
    if (closed) throw new Error('The reloader is closed')
  }

  async function reload(wanted: ReloadWanted = {}): Promise<ReloadResult> {
    refuseClosed()
    endsRollback ||= wanted.endsRollback ?? false
    isAsked = true
    askedBy = wanted.by ?? askedBy
    return queue.reload(reloadFiles)
  }

  return {
    current,
    reload,
    async rollback(generation, by) {
      refuseClosed()
      rollbacks++
      return queue.add(() => {
        rollbacks--
        return rollBackTo(generation, by)
      })
    },
    async dryRun(inspect, generation) {
      refuseClosed()
      current()
      return queue.add(() => dryRun(inspect, generation))
    },
    async withGeneration(generation, use) {
      refuseClosed()
      if (generation === current().generation) return use(current().snapshot)
      return queue.add(() => useGeneration(generation, use))
    },
    source() {
      current()
      const { source, transforms } = (serving as Serving).candidate
      return { configuration: source.configuration, ...(transforms && { transforms }) }
    },
    generations: () => archive.list(),
    async start() {
      const result = await reload()
      if (result.ok && !closed) {
        watcher ??= options.watch?.({
          ...watchSettings(),
          onChange: () => void (closed || queue.reload(reloadFiles)),
          onError: (error) => emit({ type: 'watch-failed', error }),
        })
        watcher?.watch(watched)
      }
      return result
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      endRest()
      await watcher?.close()
      await queue.idle()
      serving?.candidate.retire()
    },
  }
}

function afterTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms)
  return () => clearTimeout(timer)
}

function digestOf(built: Built): string | undefined {
  if (built.outcome === 'ready') return built.candidate.snapshot.digest
  return built.outcome === 'superseded' ? undefined : built.digest
}
