/**
 * Watches files and merges all changes into one change signal; the digest of the load that follows decides what the signal means.
 * chokidar reports changes at once. What it cannot see, such as a link above a watched folder that is pointed elsewhere, is found by a
 * slow scan that compares stats.
 *
 * Nothing is lost between watching and reading, because stats are taken before each signal. A change is older than the stats, and the
 * load that follows the signal reads it; or it is younger, and then it is an event or the difference that the next scan finds.
 */

import { once } from 'node:events'
import type { Stats } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { type FSWatcher, watch as watchFiles } from 'chokidar'
import { createDebounced } from './watch/debounce.ts'
import { isRelevantFile, isRelevantFolder } from './watch/relevance.ts'
import { statsOf } from './watch/stats.ts'
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
  /** The pause between two scans, in milliseconds. Default: 2,000. */
  readonly scanMs?: number
  /** The pause between two checks where files are polled, in milliseconds. Default: 500. */
  readonly pollMs?: number
  /** Default: chokidar's. */
  readonly watchFiles?: typeof watchFiles
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

/** How long a scan waits for chokidar's own first one. */
const maxOpeningMs = 10_000
/** The pause after a scan is at least this many times as long as the scan, which bounds its cost; and no longer than ten seconds. */
const minPauses = 50
const maxScanMs = 10_000

export function createWatcher(options: WatchOptions): Watcher {
  const { onChange, onError, scanMs = 2_000, pollMs = 500 } = options
  const ending = new AbortController()
  const reported = new Set<string>()
  const changed = createDebounced(report, options.debounceMs ?? 50)
  let polls = options.poll ?? false
  /** Whether the system gave no more events, which does not change while the process runs. */
  let isLimited = false
  /** The paths that were named last, and these with earlier ones that are still watched. */
  let named: ReadonlySet<string> = new Set()
  let kept: ReadonlySet<string> = named
  let files: FSWatcher | undefined
  let isOpen = false
  let lastStats = ''
  /** A scan has found what events did not report. */
  let isStale = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  const isPolled = () => polls || isLimited

  /** Resolves when every change is an event. */
  async function open(): Promise<void> {
    const opened = (options.watchFiles ?? watchFiles)([...kept], {
      ignoreInitial: true,
      // The debounce and the digest handle half-written files and atomic saves.
      atomic: false,
      ignorePermissionErrors: true,
      ignored: (path, stats) => !matters(path, stats),
      ...(isPolled() && { backend: 'polling', pollingInterval: pollMs }),
    })
    opened.on('all', () => changed.signal())
    opened.on('error', onFilesError)
    files = opened
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(maxOpeningMs)])
    await once(opened, 'ready', { signal }).catch(() => undefined)
  }

  /** Watches anew: by events or by polling, and what is at the paths now. */
  async function reopen(): Promise<void> {
    isStale = false
    await files?.close()
    if (!ending.signal.aborted) await open()
    if (await scan()) changed.signal()
  }

  /** Whether a path is watched, or is relevant in a folder that is. */
  function matters(path: string, stats?: Stats): boolean {
    for (let above = path; ; above = dirname(above)) {
      if (kept.has(above) && isRelevant(relative(above, path), stats)) return true
      if (above === dirname(above)) return false
    }
  }

  /** Takes the stats of everything that is watched. Returns whether they differ from the last ones. */
  async function scan(): Promise<boolean> {
    const stats = await statsOf(kept, ending.signal, (path) => reportError(replacedFile(path)))
    const differs = stats !== lastStats
    lastStats = stats
    return differs
  }

  function enqueue(step: () => Promise<unknown>): void {
    last = last.then(async () => {
      if (ending.signal.aborted) return
      await step().catch(reportError)
    })
  }

  function report(): void {
    enqueue(async () => {
      const dropped = [...kept].filter((path) => !named.has(path))
      files?.unwatch(dropped)
      kept = named
      await scan()
      if (ending.signal.aborted) return
      onChange()
      if (isStale) await reopen()
    })
  }

  function scheduleScan(pauseMs = scanMs): void {
    clearTimeout(timer)
    if (ending.signal.aborted || scanMs === Number.POSITIVE_INFINITY) return
    timer = setTimeout(() => {
      enqueue(async () => {
        const begun = performance.now()
        // What is watched may not be what is at the paths.
        isStale = (await scan()) || isStale
        const pause = Math.min(maxScanMs, minPauses * (performance.now() - begun))
        scheduleScan(Math.max(scanMs, pause))
        if (isStale) changed.signal()
      })
    }, pauseMs).unref()
  }

  function reportError(error: unknown): void {
    const failure = watchError(error, pollMs)
    if (ending.signal.aborted || reported.has(failure.message)) return
    reported.add(failure.message)
    onError(failure)
  }

  function onFilesError(error: unknown): void {
    if (isReportedByLoads(error) || isLimited) return
    reportError(error)
    if (watchError(error, pollMs).code !== 'WATCH_LIMIT') return
    isLimited = true
    enqueue(reopen)
  }

  return {
    watch(paths) {
      named = new Set(paths.map((path) => resolve(path)))
      const added = [...named].filter((path) => !kept.has(path))
      if (added.length === 0) return
      const isNew = added.some((path) => !matters(path))
      kept = new Set([...kept, ...added])
      if (isOpen) files?.add(added)
      else enqueue(open)
      isOpen = true
      if (isNew) enqueue(async () => changed.signal())
      if (timer === undefined) scheduleScan()
    },
    configure({ debounceMs, poll = polls }) {
      if (debounceMs !== undefined) changed.setRest(debounceMs)
      if (poll === polls) return
      polls = poll
      if (isOpen) enqueue(reopen)
    },
    async close() {
      ending.abort()
      clearTimeout(timer)
      changed.cancel()
      await last
      changed.cancel()
      await files?.close()
    },
  }
}

/** Whether what lies at this path in a watched folder matters: a file of a known kind, or a folder on the way to one. */
function isRelevant(path: string, stats?: Stats): boolean {
  if (path === '') return true
  const folders = path.split(sep)
  const name = folders.pop() ?? ''
  const mayBeFolder = stats?.isFile() !== true
  return folders.every(isRelevantFolder) && (isRelevantFile(name) || (mayBeFolder && isRelevantFolder(name)))
}
