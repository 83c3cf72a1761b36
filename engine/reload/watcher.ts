/**
 * Owns watching files: whatever happens to them becomes one coalesced hint. The digest decides what it means.
 *
 * Events of folders see a change at once; a slow scan, a survey whose facts differ from those of the last one, sees
 * what events did not; polling is the scan without its slowness, where there are no events. Surveys are taken one
 * after the other, in `turns`.
 *
 * Nothing is lost between watching and reading: facts are brought up to date before each hint. A change is older than
 * the facts, and the load that follows the hint reads it; or younger, and then it is an event or the next difference.
 */

import { join, resolve } from 'node:path'
import { createBaseline } from './watch/baseline.ts'
import { createCoalesced } from './watch/coalesce.ts'
import { type CreateFolderEvents, createFolderEvents, type FolderEvent } from './watch/folder-events.ts'
import { isToldByLoads, watchError } from './watch/watch-error.ts'

export interface WatchSettings {
  /** Milliseconds that the files must rest before `onChange`, which waits ten times as long at most. Default: 50. */
  readonly debounceMs?: number
  /** For file systems without events. Default: false. */
  readonly poll?: boolean
}

export interface WatchOptions extends WatchSettings {
  /** Something may have changed. Also called for each new set of paths, unless all of them were watched before. */
  readonly onChange: () => void
  /** Called once for each kind; the watcher goes on as well as it can. */
  readonly onError: (error: unknown) => void
  /** Pause between two scans, in milliseconds. Default: 10,000. */
  readonly scanMs?: number
  /** Pause between two scans that stand in for events, in milliseconds. Default: 500. */
  readonly pollMs?: number
  /** Default: events of the file system. */
  readonly createEvents?: CreateFolderEvents
}

export interface Watcher {
  /**
   * Watches these files and folders, existing or not; absolute paths. Others are let go with the next hint: a load
   * that tells what it reads in several steps does not lose what it has not come to yet.
   */
  watch(paths: readonly string[]): void
  /** Changes what is given, while watching. */
  configure(settings: WatchSettings): void
  /** No call of `onChange` or `onError` follows, and nothing keeps the process alive. */
  close(): Promise<void>
}

export type Watch = (options: WatchOptions) => Watcher

/** After a scan there is a pause so many times as long: its cost is bounded, however much there is to look at. */
const leastPause = 10

export function createWatcher(options: WatchOptions): Watcher {
  const { onChange, onError, scanMs = 10_000, pollMs = 500, createEvents = createFolderEvents } = options
  const ending = new AbortController()
  const { signal } = ending
  const hint = createCoalesced(() => void inTurn(tellChange), options.debounceMs ?? 50)
  const events = createEvents({ onEvent, onError: onEventsError })
  const told = new Set<string>()
  const doubted = new Set<string>()
  let polls = options.poll ?? false
  /** The system gave no more events. That does not change while the process runs. */
  let isLimited = false
  const usesEvents = () => !polls && !isLimited
  const baseline = createBaseline({
    events: () => (usesEvents() ? events : undefined),
    now: Date.now,
    signal,
  })
  /** As told last, and with what was told before and is not let go yet. */
  let named: ReadonlySet<string> = new Set()
  let kept: ReadonlySet<string> = named
  let timer: NodeJS.Timeout | undefined
  let turns: Promise<void> = Promise.resolve()

  function inTurn(step: () => Promise<void>): Promise<void> {
    turns = turns.then(async () => {
      try {
        if (!signal.aborted) await step()
      } catch (error) {
        tellError(error)
      }
    })
    return turns
  }

  function tellError(error: unknown): void {
    const failure = watchError(error, pollMs)
    if (signal.aborted || told.has(failure.message)) return
    told.add(failure.message)
    onError(failure)
  }

  async function tellChange(): Promise<void> {
    if (kept.size > named.size) {
      kept = named
      baseline.setPaths(kept)
      baseline.touch(undefined)
    }
    await baseline.update()
    if (!signal.aborted) onChange()
  }

  async function scan(): Promise<void> {
    if (await baseline.survey()) hint.signal()
  }

  function scheduleScan(pauseMs: number): void {
    clearTimeout(timer)
    if (signal.aborted || pauseMs === Number.POSITIVE_INFINITY) return
    timer = setTimeout(async () => {
      const begun = performance.now()
      await inTurn(scan)
      scheduleScan(Math.max(usesEvents() ? scanMs : pollMs, (performance.now() - begun) * leastPause))
    }, pauseMs)
  }

  function onEvent({ folder, name, isDoubtful }: FolderEvent): void {
    if (signal.aborted || !usesEvents()) return
    const path = name === undefined ? undefined : join(folder, name)
    if (path !== undefined && isDoubtful) void resolveDoubt(path)
    else heed(path)
  }

  function heed(path: string | undefined): void {
    baseline.touch(path)
    hint.signal()
  }

  async function resolveDoubt(path: string): Promise<void> {
    if (doubted.has(path)) return
    doubted.add(path)
    const matters = await baseline.isOrWasFolder(path)
    doubted.delete(path)
    if (matters && !signal.aborted) heed(path)
  }

  function onEventsError(error: unknown): void {
    if (isToldByLoads(error) || isLimited) return
    tellError(error)
    if (watchError(error, pollMs).code !== 'WATCH_LIMIT') return
    isLimited = true
    changeSource()
  }

  /** Events, or scans in their place, from now on. */
  function changeSource(): void {
    void inTurn(async () => {
      if (!usesEvents()) await events.observe(new Map())
      await scan()
    })
    scheduleScan(usesEvents() ? scanMs : pollMs)
  }

  return {
    watch(paths) {
      named = new Set(paths.map((path) => resolve(path)))
      const added = [...named].filter((path) => !kept.has(path))
      if (added.length === 0) return
      const isNew = added.some((path) => !baseline.isKnownFile(path))
      kept = new Set([...kept, ...added])
      baseline.setPaths(kept)
      void inTurn(async () => {
        const differs = await baseline.survey()
        if (isNew || differs) hint.signal()
      })
      if (timer === undefined) scheduleScan(usesEvents() ? scanMs : pollMs)
    },
    configure({ debounceMs, poll = polls }) {
      if (debounceMs !== undefined) hint.setRest(debounceMs)
      if (poll === polls) return
      polls = poll
      if (kept.size > 0) changeSource()
    },
    async close() {
      ending.abort()
      clearTimeout(timer)
      hint.cancel()
      await Promise.all([events.close(), turns])
      hint.cancel()
    },
  }
}
