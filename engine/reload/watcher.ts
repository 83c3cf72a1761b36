/**
 * Watches files and merges all changes into one change signal. The digest decides what the signal means.
 * Events of folders report a change at once. A slow scan, whose stats are compared with those of the previous one,
 * finds what events did not report. Polling is a fast scan for file systems without events. Scans run one after the
 * other, in `last`.
 * Nothing is lost between watching and reading, because stats are updated before each signal. A change is older than
 * the stats, and the load that follows the signal reads it; or it is younger, and then it is an event or the next
 * difference.
 */

import { join, resolve } from 'node:path'
import { createCoalesced } from './watch/coalesce.ts'
import { lookAt } from './watch/file-stat.ts'
import { type CreateFolderEvents, createFolderEvents, type FolderEvent } from './watch/folder-events.ts'
import { createPreviousScan } from './watch/previous-scan.ts'
import { isReportedByLoads, replacedFile, watchError } from './watch/watch-error.ts'

export interface WatchSettings {
  /**
   * How long the files must be unchanged before `onChange`, in milliseconds. It waits ten times as long at most.
   * Default: 50.
   */
  readonly debounceMs?: number
  /** Whether to poll, for file systems without events. Default: false. */
  readonly poll?: boolean
}

export interface WatchOptions extends WatchSettings {
  /** Called if something may have changed. Also called for each new set of paths, unless all of them were watched before. */
  readonly onChange: () => void
  /** Called once for each kind of error. The watcher continues as well as it can. */
  readonly onError: (error: unknown) => void
  /** The pause between two scans, in milliseconds. Default: 10,000. */
  readonly scanMs?: number
  /** The pause between two scans that replace events, in milliseconds. Default: 500. */
  readonly pollMs?: number
  /** Default: events of the file system. */
  readonly createEvents?: CreateFolderEvents
}

export interface Watcher {
  /**
   * Watches these files and folders by absolute path, existing or not. Earlier ones are watched until the next signal,
   * because a load that names its files in several steps has not come to all of them yet.
   */
  watch(paths: readonly string[]): void
  /** Changes the given settings while watching. */
  configure(settings: WatchSettings): void
  /** Neither `onChange` nor `onError` is called afterwards, and nothing keeps the process alive. */
  close(): Promise<void>
}

export type Watch = (options: WatchOptions) => Watcher

/** The pause after a scan is at least this many times as long as the scan, which bounds its cost. */
const leastPause = 10

export function createWatcher(options: WatchOptions): Watcher {
  const { onChange, onError, scanMs = 10_000, pollMs = 500, createEvents = createFolderEvents } = options
  const ending = new AbortController()
  const { signal } = ending
  const changeSignal = createCoalesced(() => void enqueue(reportChange), options.debounceMs ?? 50)
  const events = createEvents({ onEvent, onError: onEventsError })
  const reported = new Set<string>()
  const beingChecked = new Set<string>()
  let polls = options.poll ?? false
  /** Whether the system gave no more events, which does not change while the process runs. */
  let isLimited = false
  const usesEvents = () => !polls && !isLimited
  const previousScan = createPreviousScan({
    events: () => (usesEvents() ? events : undefined),
    now: Date.now,
    signal,
    onUnlinked: (path) => void checkUnlinked(path),
  })
  /** The paths that were named last, and these with earlier ones that are still watched. */
  let named: ReadonlySet<string> = new Set()
  let kept: ReadonlySet<string> = named
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  function enqueue(step: () => Promise<void>): Promise<void> {
    last = last.then(async () => {
      try {
        if (!signal.aborted) await step()
      } catch (error) {
        reportError(error)
      }
    })
    return last
  }

  function reportError(error: unknown): void {
    const failure = watchError(error, pollMs)
    if (signal.aborted || reported.has(failure.message)) return
    reported.add(failure.message)
    onError(failure)
  }

  async function reportChange(): Promise<void> {
    if (kept.size > named.size) {
      kept = named
      previousScan.setPaths(kept)
      previousScan.touch(undefined)
    }
    await previousScan.update()
    if (!signal.aborted) onChange()
  }

  async function scan(): Promise<void> {
    if (await previousScan.scan()) changeSignal.signal()
  }

  function scheduleScan(pauseMs: number): void {
    clearTimeout(timer)
    if (signal.aborted || pauseMs === Number.POSITIVE_INFINITY) return
    timer = setTimeout(async () => {
      const begun = performance.now()
      await enqueue(scan)
      scheduleScan(Math.max(usesEvents() ? scanMs : pollMs, (performance.now() - begun) * leastPause))
    }, pauseMs)
  }

  function onEvent({ folder, name, isUncertain }: FolderEvent): void {
    if (signal.aborted || !usesEvents()) return
    const path = name === undefined ? undefined : join(folder, name)
    if (path !== undefined && isUncertain) void checkFolder(path)
    else noteChange(path)
  }

  function noteChange(path: string | undefined): void {
    previousScan.touch(path)
    changeSignal.signal()
  }

  async function checkFolder(path: string): Promise<void> {
    if (beingChecked.has(path)) return
    beingChecked.add(path)
    const matters = await previousScan.isOrWasFolder(path)
    beingChecked.delete(path)
    if (matters && !signal.aborted) noteChange(path)
  }

  /** A file that is replaced at this moment has no name for an instant, so it is checked a second time. */
  async function checkUnlinked(path: string): Promise<void> {
    const found = await lookAt(path)
    if (typeof found === 'object' && found.nlink === 0) reportError(replacedFile(path))
  }

  function onEventsError(error: unknown): void {
    if (isReportedByLoads(error) || isLimited) return
    reportError(error)
    if (watchError(error, pollMs).code !== 'WATCH_LIMIT') return
    isLimited = true
    changeSource()
  }

  /** From now on there are events, or scans in their place. */
  function changeSource(): void {
    void enqueue(async () => {
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
      const isNew = added.some((path) => !previousScan.isKnownFile(path))
      kept = new Set([...kept, ...added])
      previousScan.setPaths(kept)
      void enqueue(async () => {
        const differs = await previousScan.scan()
        if (isNew || differs) changeSignal.signal()
      })
      if (timer === undefined) scheduleScan(usesEvents() ? scanMs : pollMs)
    },
    configure({ debounceMs, poll = polls }) {
      if (debounceMs !== undefined) changeSignal.setRest(debounceMs)
      if (poll === polls) return
      polls = poll
      if (kept.size > 0) changeSource()
    },
    async close() {
      ending.abort()
      clearTimeout(timer)
      changeSignal.cancel()
      await Promise.all([events.close(), last])
      changeSignal.cancel()
    },
  }
}
