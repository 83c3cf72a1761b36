/**
 * Watches folders for events, each by its own chokidar without sub-folders. A scan decides which folders these are,
 * because chokidar would not drop one folder without those below it, nor watch links that lead to one.
 */

import { basename, dirname } from 'node:path'
import { watch } from 'chokidar'
import { isRelevantFile, isRelevantFolder } from './relevance.ts'
import type { ObservedFolder } from './scan.ts'

export interface FolderEvent {
  readonly folder: string
  /** Undefined: the folder itself changed, or the system does not name the entry. */
  readonly name: string | undefined
  /** Whether the entry matters only if it is, or was, a folder. */
  readonly isUncertain: boolean
}

export interface FolderEventListener {
  onEvent(event: FolderEvent): void
  onError(error: unknown): void
}

export interface FolderEvents {
  /**
   * Watches these folders and no others.
   * @returns whether there are new ones, which give events from then on
   */
  observe(folders: ReadonlyMap<string, ObservedFolder>): Promise<boolean>
  /** The listener is not called afterwards. */
  close(): Promise<void>
}

export type CreateFolderEvents = (listener: FolderEventListener) => FolderEvents

interface Open {
  observed: ObservedFolder
  close(): void
}

/** The number of folders that are opened at the same time. Each takes about a millisecond. */
const atOnce = 4
/** A folder with constant changes is never reported as ready, although it has been for long. Milliseconds. */
const longestOpening = 1000

export const createFolderEvents: CreateFolderEvents = ({ onEvent, onError }) => {
  const open = new Map<string, Open>()
  const closing = new Set<Promise<void>>()
  let closed = false

  function drop(folder: string): void {
    open.get(folder)?.close()
    open.delete(folder)
  }

  function report(folder: string, name: string | undefined, isContent: boolean): void {
    const observed = open.get(folder)?.observed
    if (!observed) return
    const relevance = name === undefined ? 'certain' : relevanceOf(observed, name, isContent)
    if (relevance) onEvent({ folder, name, isUncertain: relevance === 'uncertain' })
  }

  /** The folder may have been replaced, and the watch be on the old one wherever it is now. The next scan opens it again. */
  function retire(folder: string): void {
    report(folder, undefined, false)
    drop(folder)
  }

  /** Resolves with whether the folder is watched. */
  function add(folder: string, observed: ObservedFolder): Promise<boolean> {
    const files = watch(folder, {
      depth: 0,
      followSymlinks: false,
      ignoreInitial: true,
      // The debounce and the digest handle half-written files and atomic saves.
      atomic: false,
      ignored: (path) => path !== folder && !matters(folder, basename(path)),
    })
    const { promise: isOpen, resolve } = Promise.withResolvers<boolean>()
    const late = setTimeout(end, longestOpening, true)
    function end(isOpen: boolean): void {
      clearTimeout(late)
      resolve(isOpen)
    }
    open.set(folder, {
      observed,
      close() {
        end(false)
        track(files.close())
      },
    })
    files.once('ready', () => end(true))
    files.on('error', (error) => {
      drop(folder)
      if (!closed) onError(error)
    })
    // Chokidar's own events leave out changes of rights, and changes that it does not confirm by its own check of the
    // file.
    files.on('raw', (kind, name, details) => {
      if ((details as { watchedPath?: unknown }).watchedPath !== folder) return
      if (name === basename(folder) && kind === 'rename') retire(folder)
      else report(folder, name ?? undefined, kind === 'change')
    })
    files.on('all', (_, path) => {
      if (path === folder) retire(folder)
      else if (dirname(path) === folder) report(folder, basename(path), false)
    })
    return isOpen
  }

  function matters(folder: string, name: string): boolean {
    const observed = open.get(folder)?.observed
    return observed === undefined || relevanceOf(observed, name, true) !== undefined
  }

  function track(end: Promise<void>): void {
    const ended = end.catch(() => {}).finally(() => closing.delete(ended))
    closing.add(ended)
  }

  return {
    async observe(folders) {
      for (const [folder, { observed }] of open) {
        if (folders.get(folder)?.identity !== observed.identity) drop(folder)
      }
      const added: [string, ObservedFolder][] = []
      for (const [folder, observed] of folders) {
        const known = open.get(folder)
        if (known) known.observed = observed
        else added.push([folder, observed])
      }
      let isAny = false
      for (let next = 0; next < added.length && !closed; next += atOnce) {
        const some = added.slice(next, next + atOnce)
        const areOpen = await Promise.all(some.map(([folder, observed]) => add(folder, observed)))
        isAny ||= areOpen.includes(true)
      }
      return isAny
    },
    async close() {
      closed = true
      for (const folder of [...open.keys()]) drop(folder)
      await Promise.all(closing)
    },
  }
}

/** `isContent` means that the entry existed before and still does, so that it is no folder that comes or goes. */
function relevanceOf(
  { names, whole }: ObservedFolder,
  name: string,
  isContent: boolean,
): 'certain' | 'uncertain' | undefined {
  if (names.has(name)) return 'certain'
  if (!whole) return undefined
  if (isRelevantFile(name)) return 'certain'
  return !isContent && isRelevantFolder(name) ? 'uncertain' : undefined
}
