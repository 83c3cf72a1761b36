/**
 * Watches files and merges all changes into one change signal; the digest of the load that follows decides what the signal means.
 * chokidar reports changes at once. A change that it cannot see, such as a link above a watched folder that is pointed elsewhere, is found by a
 * slow scan that compares stats. Where files are polled, there is only the scan, which is then quick.
 *
 * Nothing is lost between watching and reading, because stats are taken before each signal. A change is older than the stats, and the
 * load that follows the signal reads it; or it is younger, and then it is an event or the difference that the next scan finds. A file that
 * the load read and that is gone again before that scan makes no difference, so entries of folders are compared once the load has ended.
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
  /** Milliseconds that the files must be unchanged before `onChange`. It waits ten times as long at most. Default: 50. */
  readonly debounceMs?: number
  /** True to poll, for file systems without events. Default: false. */
  readonly poll?: boolean
}

export interface WatchOptions extends WatchSettings {
  /**
   * Called if something may have changed. Also called for each new set of paths, unless all of them were watched before. A promise that it
   * returns says when the files have been read.
   */
  readonly onChange: () => unknown
  /** Called once for each kind of error. The watcher continues as well as it can. */
  readonly onError: (error: unknown) => void
  /** The pause between two scans, in milliseconds. Default: 2,000. */
  readonly scanMs?: number
  /** The pause between two scans where files are polled, in milliseconds. Default: 500. */
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

/** Milliseconds that a scan waits for chokidar's own first one. */
const maxOpeningMs = 10_000
/** The pause after a scan is at least this many times as long as the scan, which bounds its cost; and no longer than ten seconds. */
const minPauses = 50
const maxScanMs = 10_000

class FileWatcher implements Watcher {
  readonly #options: WatchOptions
  readonly #pollMs: number
  readonly #ending = new AbortController()
  readonly #reported = new Set<string>()
  readonly #changed: ReturnType<typeof createDebounced>
  #polls: boolean
  /** True if the system gave no more events, which does not change while the process runs. */
  #isLimited = false
  /** The paths that were named last, and these with earlier ones that are still watched. */
  #named: ReadonlySet<string> = new Set()
  #kept: ReadonlySet<string> = this.#named
  #files: FSWatcher | undefined
  #isOpen = false
  #lastStats = ''
  /** A scan has found what events did not report. */
  #isStale = false
  /** Number of calls of `onChange`. */
  #signals = 0
  #timer: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: WatchOptions) {
    this.#options = options
    this.#pollMs = options.pollMs ?? 500
    this.#polls = options.poll ?? false
    this.#changed = createDebounced(() => this.#report(), options.debounceMs ?? 50)
  }

  watch(paths: readonly string[]): void {
    this.#named = new Set(paths.map((path) => resolve(path)))
    const added = [...this.#named].filter((path) => !this.#kept.has(path))
    if (added.length === 0) return
    const isNew = added.some((path) => !this.#matters(path))
    this.#kept = new Set([...this.#kept, ...added])
    if (this.#isOpen) this.#files?.add(added)
    else this.#enqueue(() => this.#open())
    this.#isOpen = true
    if (isNew) this.#enqueue(async () => this.#changed.signal())
  }

  configure({ debounceMs, poll = this.#polls }: WatchSettings): void {
    if (debounceMs !== undefined) this.#changed.setRest(debounceMs)
    if (poll === this.#polls) return
    this.#polls = poll
    if (this.#isOpen) this.#enqueue(() => this.#reopen())
  }

  async close(): Promise<void> {
    this.#ending.abort()
    clearTimeout(this.#timer)
    this.#changed.cancel()
    await this.#last
    this.#changed.cancel()
    await this.#files?.close()
  }

  /** Resolves when every change is an event, or is found by scans. */
  async #open(): Promise<void> {
    this.#scheduleScan()
    if (this.#isPolling) return
    const opened = (this.#options.watchFiles ?? watchFiles)([...this.#kept], {
      ignoreInitial: true,
      // The debounce and the digest handle half-written files and atomic saves.
      atomic: false,
      ignorePermissionErrors: true,
      ignored: (path, stats) => !this.#matters(path, stats),
    })
    opened.on('all', () => this.#changed.signal())
    opened.on('error', (error) => this.#onFilesError(error))
    this.#files = opened
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(maxOpeningMs)])
    await once(opened, 'ready', { signal }).catch(() => undefined)
  }

  /** Watches again: by events or by polling, and what is at the paths now. */
  async #reopen(): Promise<void> {
    this.#isStale = false
    await this.#files?.close()
    this.#files = undefined
    if (!this.#ending.signal.aborted) await this.#open()
    if (await this.#scan()) this.#changed.signal()
  }

  get #isPolling(): boolean {
    return this.#polls || this.#isLimited
  }

  /** True if a path is watched, or is relevant in a folder that is. */
  #matters(path: string, stats?: Stats): boolean {
    for (let above = path; ; above = dirname(above)) {
      if (this.#kept.has(above) && isRelevant(relative(above, path), stats)) return true
      if (above === dirname(above)) return false
    }
  }

  /** Takes the stats of everything that is watched. Returns whether they differ from the last ones. */
  async #scan(): Promise<boolean> {
    const { files } = await this.#statsOf(this.#kept)
    const differs = files !== this.#lastStats
    this.#lastStats = files
    return differs
  }

  #statsOf(paths: ReadonlySet<string>) {
    return statsOf(paths, this.#ending.signal, (path) => this.#reportError(replacedFile(path)))
  }

  #enqueue(step: () => Promise<unknown>): void {
    this.#last = this.#last.then(async () => {
      if (this.#ending.signal.aborted) return
      await step().catch((error) => this.#reportError(error))
    })
  }

  #report(): void {
    this.#enqueue(async () => {
      const dropped = [...this.#kept].filter((path) => !this.#named.has(path))
      this.#files?.unwatch(dropped)
      const paths = this.#named
      this.#kept = paths
      const { files, entries } = await this.#statsOf(paths)
      this.#lastStats = files
      if (this.#ending.signal.aborted) return
      this.#signals += 1
      const signal = this.#signals
      const confirm = () => this.#enqueue(() => this.#confirm(signal, paths, entries))
      void Promise.resolve(this.#options.onChange()).then(confirm, confirm)
      if (this.#isStale) await this.#reopen()
    })
  }

  /** Signals again if something came or went while the files were read, unless a later signal is about that. */
  async #confirm(signal: number, paths: ReadonlySet<string>, before: string): Promise<void> {
    if (signal !== this.#signals) return
    const { entries } = await this.#statsOf(paths)
    if (entries !== before) this.#changed.signal()
  }

  #scheduleScan(minPauseMs = 0): void {
    const scanMs = this.#isPolling ? this.#pollMs : (this.#options.scanMs ?? 2_000)
    clearTimeout(this.#timer)
    if (this.#ending.signal.aborted || scanMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(
      () => {
        this.#enqueue(async () => {
          const begun = performance.now()
          // The watched files may no longer be those at the paths.
          this.#isStale = (await this.#scan()) || this.#isStale
          this.#scheduleScan(Math.min(maxScanMs, minPauses * (performance.now() - begun)))
          if (this.#isStale) this.#changed.signal()
        })
      },
      Math.max(scanMs, minPauseMs),
    ).unref()
  }

  #reportError(error: unknown): void {
    const failure = watchError(error, this.#pollMs)
    if (this.#ending.signal.aborted || this.#reported.has(failure.message)) return
    this.#reported.add(failure.message)
    this.#options.onError(failure)
  }

  #onFilesError(error: unknown): void {
    if (isReportedByLoads(error) || this.#isLimited) return
    this.#reportError(error)
    if (watchError(error, this.#pollMs).code !== 'WATCH_LIMIT') return
    this.#isLimited = true
    this.#enqueue(() => this.#reopen())
  }
}

export const createWatcher: Watch = (options) => new FileWatcher(options)

/** True if a path in a watched folder matters: a file of a known kind, or a folder on the way to one. */
function isRelevant(path: string, stats?: Stats): boolean {
  if (path === '') return true
  const folders = path.split(sep)
  const name = folders.pop() ?? ''
  const mayBeFolder = stats?.isFile() !== true
  return folders.every(isRelevantFolder) && (isRelevantFile(name) || (mayBeFolder && isRelevantFolder(name)))
}
