/** Presents the file system as a kept generation saw it: its own files from the archive, everything else as it is now. */

import { basename, dirname } from 'node:path'
import { type Files, type GenerationContent, realFiles } from '@reveille/engine'

/**
 * Takes {@link GenerationContent.sources}. A folder holds the kept files alone, so that a later mapping file is
 * not found. `.env` and the targets of `${file:}` are never kept: secrets are as they are now.
 */
export function createKeptFiles(sources: GenerationContent['sources'], others: Files = realFiles): Files {
  const folders = foldersOf(sources.keys())
  return {
    async readFile(path) {
      const text = sources.get(path)
      return text === undefined ? others.readFile(path) : Buffer.from(text)
    },
    async readdir(path) {
      return [...(folders.get(path) ?? [])]
    },
    async stat(path) {
      const text = sources.get(path)
      if (text !== undefined) return statOf('file', Buffer.byteLength(text))
      return folders.has(path) ? statOf('folder', 0) : others.stat(path)
    },
  }
}

/** Presents the file system with these texts in place of some of its files, or beside them, by path. */
export function createChangedFiles(texts: ReadonlyMap<string, string> = new Map()): Files {
  const changed = createKeptFiles(texts)
  return {
    readFile: changed.readFile,
    async readdir(path) {
      const added = await changed.readdir(path)
      const names = await realFiles.readdir(path).catch((error) => {
        if (added.length > 0) return []
        throw error
      })
      return [...new Set([...names, ...added])]
    },
    stat: (path) =>
      texts.has(path) ? changed.stat(path) : realFiles.stat(path).catch(() => changed.stat(path)),
  }
}

/** Each folder above the files, with the names in it. */
function foldersOf(files: Iterable<string>): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const file of files) {
    for (let path = file; dirname(path) !== path; path = dirname(path)) {
      const folder = dirname(path)
      const names = folders.get(folder) ?? new Set()
      folders.set(folder, names.add(basename(path)))
    }
  }
  return folders
}

function statOf(kind: 'file' | 'folder', size: number) {
  return { isFile: () => kind === 'file', isDirectory: () => kind === 'folder', size }
}
