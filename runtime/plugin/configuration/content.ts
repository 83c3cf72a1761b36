/** Identifies the content of the plugins that `plugins:` names by their folders, so that an edited one is another plugin. */

import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import type { Loaded } from '@reveille/engine'

const parts = '**/*.{js,cjs,mjs,ts,cts,mts,json}'
const others = ['**/node_modules', '**/.*', '**/*.test.*']
/** A folder with more files is no plugin of one's own; the rest is not looked at. */
const maxFiles = 1000

/** The files of a folder that decide what its plugin does, without its packages. Sorted; none in a folder that is missing. */
function filesOf(folder: string): readonly string[] {
  return globSync(parts, { cwd: folder, exclude: others }).sort().slice(0, maxFiles)
}

/** Returns a digest of the files' content, in hex. */
export function contentOf(folder: string): string {
  const contents = filesOf(folder).map((name) => {
    const path = name.replaceAll(sep, '/')
    try {
      return [path, hash('sha256', readFileSync(join(folder, name)))]
    } catch {
      return [path, null]
    }
  })
  return hash('sha256', JSON.stringify(contents)).slice(0, 16)
}

/** Makes the plugins of these folders part of what is watched, and of the digest by which a change is noticed. */
export function withPluginContent(loaded: Loaded): Loaded {
  if (!loaded.ok) return loaded
  const { configuration } = loaded
  const folders = configuration.settings.plugins.filter((each) => isAbsolute(each))
  if (folders.length === 0) return loaded
  const digest = hash('sha256', JSON.stringify([configuration.digest, folders.map(contentOf)]))
  const watched = [
    ...configuration.watched,
    ...folders.flatMap((folder) => filesOf(folder).map((name) => join(folder, name))),
  ]
  return { ...loaded, configuration: { ...configuration, digest, watched } }
}
