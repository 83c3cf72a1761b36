/** Owns watching files: whatever happens to them becomes one coalesced hint. The digest decides what it means. */

import { basename } from 'node:path'
import { watch as watchFiles } from 'chokidar'
import { createCoalesced } from './coalesce.ts'

export interface WatchOptions {
  /** Milliseconds that the files must rest before `onChange` is called. Default: 50. */
  readonly debounceMs?: number
  /** Also called once for each newly watched set, when its files were first seen: a change in between is not lost. */
  readonly onChange: () => void
  readonly onError: (error: unknown) => void
}

export interface Watcher {
  /** Watches these files and folders, existing or not, and no others; absolute paths. */
  watch(paths: readonly string[]): void
  /** No call of `onChange` or `onError` follows. */
  close(): Promise<void>
}

export type Watch = (options: WatchOptions) => Watcher

export function createWatcher({ debounceMs = 50, onChange, onError }: WatchOptions): Watcher {
  const hint = createCoalesced(onChange, debounceMs)
  const named = new Set<string>()
  const files = watchFiles([], {
    // Half-written files and atomic saves are the debounce's and the digest's affair.
    atomic: false,
    ignored: (path, stats) => !named.has(path) && !mayMatter(path, stats?.isFile() === true),
  })
  files.on('all', () => hint.signal())
  files.on('error', onError)

  return {
    watch(paths) {
      const wanted = new Set(paths)
      const gone = [...named].filter((path) => !wanted.has(path))
      const added = paths.filter((path) => !named.has(path))
      for (const path of gone) named.delete(path)
      for (const path of added) named.add(path)
      if (gone.length > 0) files.unwatch(gone)
      if (added.length > 0) files.add(added)
    },
    async close() {
      hint.cancel()
      await files.close()
      hint.cancel()
    },
  }
}

/** Within a watched folder: mapping files, and the `..data` link by which Kubernetes swaps a mounted folder. */
function mayMatter(path: string, isFile: boolean): boolean {
  const name = basename(path)
  if (name.startsWith('.') && !name.startsWith('..')) return false
  return !isFile || /\.(ya?ml|json)$/i.test(name)
}
