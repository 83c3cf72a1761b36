/**
 * Owns which snapshot serves, and how another takes its place.
 *
 * States, per round: idle -> building -> (superseded | unchanged | rejected | swapped) -> idle.
 * One round at a time. Callers who come while a round is building wait for the next one, because only that one is
 * sure to see their change; a round that somebody waits behind is given up before it prepares anything, so that the
 * latest change wins. After a few rounds given up in a row one is finished all the same, so that a file that never
 * rests cannot keep everything else from going live. `live` is assigned in `swap` and nowhere else.
 */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { Settings } from '../config/settings.ts'
import {
  type BuildContext,
  type Built,
  buildCandidate,
  type Candidate,
  type CandidateParts,
} from './candidate.ts'
import type { GenerationArchive, GenerationContent, GenerationRecord } from './generation.ts'
import type { CurrentLive, Live } from './live.ts'
import { createMemoryArchive } from './memory-archive.ts'
import { closing, notKept, overruled, rollbackLost, rolledBack } from './reload-diagnostics.ts'
import type { ReloadEvent, ReloadListener, ReloadResult } from './reload-event.ts'
import { createRounds } from './rounds.ts'
import { type Trial, type Tried, tryCandidate } from './trial.ts'
import { createVerdicts } from './verdicts.ts'
import type { Watch, Watcher, WatchSettings } from './watcher.ts'

/** Rounds given up in a row before one is finished. */
const mostSuperseded = 2

export interface ReloaderOptions extends CandidateParts {
  /** Makes the watcher when the first load went well. Absent: only {@link Reloader.reload} reloads. */
  readonly watch?: Watch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Of `hooks.reload`; what is given here wins. */
  readonly watchSettings?: WatchSettings
  /** Default: one that ends with the process. */
  readonly archive?: GenerationArchive
  /** The settings that the process was started with; what only a restart can change keeps their values. */
  readonly boot?: Settings
}

export interface Reloader {
  /** What serves now. @throws Error before the first load went well */
  readonly current: CurrentLive
  /** The first load; when it goes well, files are watched from then on. */
  start(): Promise<ReloadResult>
  /**
   * Loads again. The answer is of a load that began after the call. `endsRollback`: the files go live although they are
   * those that were rolled back from; default: such files wait for a change. @throws Error once closed
   */
  reload(options?: { readonly endsRollback?: boolean }): Promise<ReloadResult>
  /**
   * Serves an old generation again, until the files change or a reload ends it; also after a restart. One that is not kept any more is
   * rejected. @throws Error once closed
   */
  rollback(generation: number): Promise<ReloadResult>
  /**
   * Builds a candidate of the files as they are now, shows it to `look`, and lets go of it. Nothing goes live.
   * @throws Error once closed, or before the first load went well
   */
  tryReload<Seen>(look: Trial<Seen>): Promise<Tried<Seen>>
  /** Newest first. */
  generations(): readonly GenerationRecord[]
  /** Listeners are called in order of the events, after the fact; the answer ends the subscription. */
  subscribe(listener: ReloadListener): () => void
  /** Stops watching and waits for a round that is under way; its candidate is not swapped in. */
  close(): Promise<void>
}

/** What serves, with what it was made from. */
interface Serving {
  readonly live: Live
  readonly candidate: Candidate
}

export function createReloader(options: ReloaderOptions): Reloader {
  const { now, archive = createMemoryArchive() } = options
  const listeners = new Set<ReloadListener>()
  let serving: Serving | undefined
  let watcher: Watcher | undefined
  let watched: readonly string[] = []
  /** Of the files as they were last looked at, whatever came of it. */
  let filesDigest: string | undefined
  let closed = false
  const rounds = createRounds()
  /** Whether the next round of the files ends a rollback. */
  let endsRollback = false
  /** Rollbacks that wait. */
  let rollbacks = 0
  const verdicts = createVerdicts({ now, archive, emit, serving: () => serving?.live.generation })

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

  async function roundOfFiles(): Promise<ReloadResult> {
    let rollback = archive.rollback()
    for (let superseded = 0; ; superseded++) {
      const begun = now()
      // Files that are refused leave the rollback as it was.
      if (endsRollback) rollback = undefined
      endsRollback = false
      const built = await buildCandidate(options, {
        ...contextOf(),
        isPassed: (digest) => serving !== undefined && digest === rollback?.filesDigest,
        isSuperseded: () => closed || (rounds.isReloadWaiting() && superseded < mostSuperseded),
        overruled: () => (rollbacks > 0 ? overruled : undefined),
      })
      if (built.outcome === 'superseded') {
        if (closed) return verdicts.declined(closing, begun)
        rounds.joinWaiting()
        continue
      }
      filesDigest = digestOf(built)
      if (rollback && filesDigest === rollback.filesDigest) {
        const held = await holdRollback(rollback.generation, built, begun)
        if (held) return held
        return conclude(built, begun, [rollbackLost(rollback.generation)])
      }
      return conclude(built, begun)
    }
  }

  /** The files are those that were rolled back from: they wait for a change. Undefined: nothing holds them back. */
  async function holdRollback(
    generation: number,
    built: Exclude<Built, { outcome: 'superseded' }>,
    begun: number,
  ): Promise<ReloadResult | undefined> {
    if (serving) {
      if (built.outcome === 'ready') await built.candidate.discard()
      return verdicts.unchanged([rolledBack(current().generation)], begun, filesDigest)
    }
    const kept = await archive.read(generation)
    if (kept === undefined) return undefined
    const again = await buildCandidate(options, contextOf(kept))
    if (again.outcome !== 'ready') return undefined
    if (built.outcome === 'ready') await built.candidate.discard()
    return goLive(again.candidate, begun, { isRollback: true, warnings: [rolledBack(generation)] })
  }

  async function roundBack(generation: number): Promise<ReloadResult> {
    const begun = now()
    const kept = await archive.read(generation)
    if (kept === undefined) return verdicts.declined(notKept(generation, archive.list()), begun)
    const built = await buildCandidate(options, contextOf(kept))
    if (built.outcome === 'superseded') return verdicts.declined(closing, begun)
    if (built.outcome === 'unchanged') {
      const isHeld = holdAgainstFiles(current().generation, built.digest)
      return verdicts.unchanged(
        [...(isHeld ? [rolledBack(generation)] : []), ...built.warnings],
        begun,
        built.digest,
      )
    }
    if (built.outcome === 'rejected')
      return verdicts.rejected(built.diagnostics, begun, built.digest, generation)
    return goLive(built.candidate, begun, { isRollback: true })
  }

  /** The generation of this digest serves until the files change, if they say something else; whether they do. */
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
    built: Exclude<Built, { outcome: 'superseded' }>,
    begun: number,
    warnings: readonly Diagnostic[] = [],
  ): Promise<ReloadResult> {
    if (built.outcome === 'ready') return goLive(built.candidate, begun, { warnings })
    if (built.outcome === 'unchanged') {
      // The files say what serves: whatever they are changed to next is wanted, be it what was rolled back from.
      archive.setRollback(undefined)
      return verdicts.unchanged(built.warnings, begun, built.digest)
    }
    return verdicts.rejected([...built.diagnostics, ...warnings], begun, built.digest)
  }

  async function goLive(
    candidate: Candidate,
    begun: number,
    { isRollback = false, warnings = [] }: { isRollback?: boolean; warnings?: readonly Diagnostic[] } = {},
  ): Promise<ReloadResult> {
    if (closed) {
      await settle(() => candidate.discard())
      return verdicts.declined(closing, begun)
    }
    const { live, before } = swap(candidate)
    const { generation, snapshot } = live
    const isHeld = isRollback && holdAgainstFiles(generation, snapshot.digest)
    if (!isRollback) archive.setRollback(undefined)
    const result = verdicts.live(candidate, { generation, begun, warnings, rolledBack: isHeld })
    watcher?.configure(watchSettings())
    await settle(() => candidate.commit())
    await settle(() => before?.candidate.retire())
    return result
  }

  /** The snapshot is decided by now; what fails here is told and changes nothing. */
  async function settle(step: () => Promise<void> | void | undefined): Promise<void> {
    try {
      await step()
    } catch (error) {
      emit({ type: 'release-failed', error })
    }
  }

  function roundOfTrial<Seen>(look: Trial<Seen>): Promise<Tried<Seen>> {
    return tryCandidate(look, {
      parts: options,
      context: { ...contextOf(), isSuperseded: () => closed || rollbacks > 0 },
      live: current(),
      now,
      isClosed: () => closed,
      isGivenUp: () => closed || rounds.isAnyWaiting(),
      settle,
    })
  }

  function watchSettings(): WatchSettings {
    const { debounceMs, poll } = current().snapshot.settings.hooks.reload
    return { debounceMs, poll, ...options.watchSettings }
  }

  function refuseClosed(): void {
    if (closed) throw new Error('The reloader is closed')
  }

  async function reload(wanted: { readonly endsRollback?: boolean } = {}): Promise<ReloadResult> {
    refuseClosed()
    endsRollback ||= wanted.endsRollback ?? false
    return rounds.reload(roundOfFiles)
  }

  return {
    current,
    reload,
    async rollback(generation) {
      refuseClosed()
      rollbacks++
      return rounds.next(() => {
        rollbacks--
        return roundBack(generation)
      })
    },
    async tryReload(look) {
      refuseClosed()
      current()
      return rounds.next(() => roundOfTrial(look))
    },
    generations: () => archive.list(),
    async start() {
      const result = await reload()
      if (result.ok && !closed) {
        watcher ??= options.watch?.({
          ...watchSettings(),
          onChange: () => void (closed || reload()),
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
      await watcher?.close()
      await rounds.rest()
      serving?.candidate.retire()
    },
  }
}

function digestOf(built: Built): string | undefined {
  if (built.outcome === 'ready') return built.candidate.snapshot.digest
  return built.outcome === 'superseded' ? undefined : built.digest
}
