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
import {
  type BuildContext,
  type Built,
  buildCandidate,
  type Candidate,
  type CandidateParts,
} from './candidate.ts'
import type { CurrentLive, Live } from './live.ts'
import type { ReloadEvent, ReloadListener } from './reload-event.ts'
import type { Watch, Watcher } from './watcher.ts'

/** Rounds given up in a row before one is finished. */
const mostSuperseded = 5

export interface ReloaderOptions extends CandidateParts {
  /** Makes the watcher when the first load went well. Absent: only {@link Reloader.reload} reloads. */
  readonly watch?: Watch
  /** Milliseconds, for durations only. */
  readonly now: () => number
  /** Milliseconds that files must rest before they are read again. Default: 50. */
  readonly debounceMs?: number
}

export type ReloadResult =
  | {
      readonly ok: true
      /** False: the content was that of the generation that serves already. */
      readonly swapped: boolean
      readonly live: Live
      readonly warnings: readonly Diagnostic[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

export interface Reloader {
  /** What serves now. @throws Error before the first load went well */
  readonly current: CurrentLive
  /** The first load; when it goes well, files are watched from then on. */
  start(): Promise<ReloadResult>
  /** Loads again. The answer is of a load that began after the call. @throws Error once closed */
  reload(): Promise<ReloadResult>
  /** Listeners are called in order of the events, after the fact; the answer ends the subscription. */
  subscribe(listener: ReloadListener): () => void
  /** Stops watching and waits for a round that is under way; its candidate is not swapped in. */
  close(): Promise<void>
}

export function createReloader(options: ReloaderOptions): Reloader {
  const { now, debounceMs = 50 } = options
  const listeners = new Set<ReloadListener>()
  let live: Live | undefined
  let watcher: Watcher | undefined
  let watched: readonly string[] = []
  let waiting: PromiseWithResolvers<ReloadResult>[] = []
  let working: Promise<void> | undefined
  let closed = false

  function current(): Live {
    if (!live) throw new Error('Nothing is live before the first load went well')
    return live
  }

  function emit(event: ReloadEvent): void {
    for (const listener of listeners) listener(event)
  }

  function swap(snapshot: Live['snapshot']): Live {
    live = Object.freeze({ generation: (live?.generation ?? 0) + 1, snapshot })
    return live
  }

  async function work(): Promise<void> {
    let superseded = 0
    while (waiting.length > 0) {
      const callers = waiting
      waiting = []
      const begun = now()
      const built = await buildCandidate(options, contextOf(superseded))
      if (built.outcome === 'superseded') {
        superseded++
        waiting = [...callers, ...waiting]
        continue
      }
      superseded = 0
      const result = await conclude(built, begun)
      for (const caller of callers) caller.resolve(result)
    }
    working = undefined
  }

  function contextOf(superseded: number): BuildContext {
    return {
      ...(live && { live: live.snapshot }),
      isSuperseded: () => waiting.length > 0 && superseded < mostSuperseded,
      onWatched(paths) {
        watched = paths
        watcher?.watch(paths)
      },
    }
  }

  async function conclude(
    built: Exclude<Built, { outcome: 'superseded' }>,
    begun: number,
  ): Promise<ReloadResult> {
    if (built.outcome === 'ready') return goLive(built.candidate, begun)
    if (built.outcome === 'unchanged') {
      const serving = current()
      emit({ type: 'content-unchanged', generation: serving.generation, tookMs: now() - begun })
      return { ok: true, swapped: false, live: serving, warnings: built.warnings }
    }
    const { diagnostics, digest } = built
    emit({ type: 'candidate-rejected', diagnostics, ...(digest && { digest }), tookMs: now() - begun })
    return { ok: false, diagnostics }
  }

  async function goLive(
    { snapshot, prepared, warnings, heldKeys }: Candidate,
    begun: number,
  ): Promise<ReloadResult> {
    if (closed) {
      await settle(prepared?.discard)
      return { ok: false, diagnostics: [closing] }
    }
    const swapped = swap(snapshot)
    const { generation } = swapped
    const mappings = snapshot.mappings.length
    emit({
      type: 'snapshot-swapped',
      generation,
      digest: snapshot.digest,
      tookMs: now() - begun,
      mappings,
      warnings,
    })
    if (heldKeys.length > 0) emit({ type: 'restart-required', generation, keys: heldKeys })
    await settle(prepared?.commit)
    return { ok: true, swapped: true, live: swapped, warnings }
  }

  /** The snapshot is decided by now; what fails here is told and changes nothing. */
  async function settle(step: (() => Promise<void> | void) | undefined): Promise<void> {
    try {
      await step?.()
    } catch (error) {
      emit({ type: 'release-failed', error })
    }
  }

  function reload(): Promise<ReloadResult> {
    if (closed) return Promise.reject(new Error('The reloader is closed'))
    const caller = Promise.withResolvers<ReloadResult>()
    waiting.push(caller)
    working ??= work()
    return caller.promise
  }

  return {
    current,
    reload,
    async start() {
      const result = await reload()
      if (result.ok && !closed) {
        watcher ??= options.watch?.({
          debounceMs,
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
      await working
    },
  }
}

const closing: Diagnostic = {
  severity: 'error',
  code: 'RELOADER_CLOSED',
  message: 'The gateway is closing; the candidate was not swapped in',
}
