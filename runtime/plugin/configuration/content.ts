/** Identifies the content of the plugins that `plugins:` names by their folders, so that an edited one is another plugin. */

import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import type { Loaded } from '@reveille/engine'

const parts = /\.(?:[cm]?[jt]s|json)$/
/** A folder with more files is no plugin of one's own; the rest is not looked at. */
const maxFiles = 1000

/** The files of a folder that decide what its plugin does, without its packages. Absolute, sorted. */
function filesOf(folder: string): readonly string[] {
  const files: string[] = []
  const visit = (place: string): void => {
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.') || files.length >= maxFiles) continue
      if (entry.isDirectory()) visit(join(place, entry.name))
      else if (parts.test(entry.name) && !/\.test\.\w+$/.test(entry.name)) files.push(join(place, entry.name))
    }
  }
  try {
    visit(folder)
  } catch {
    // The folder is missing, which is reported where the plugin is looked for.
  }
  return files.sort()
}

/** Returns a digest of the files' content, in hex. */
export function contentOf(folder: string): string {
  const contents = filesOf(folder).map((file) => {
    try {
      return [file.slice(folder.length).split(sep).join('/'), hash('sha256', readFileSync(file))]
    } catch {
      return [file.slice(folder.length), null]
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
  const watched = [...configuration.watched, ...folders.flatMap(filesOf)]
  return { ...loaded, configuration: { ...configuration, digest, watched } }
}
