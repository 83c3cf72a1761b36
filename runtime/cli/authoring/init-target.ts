/** Owns where `init` puts what it adds to a configuration that is there. */

import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { loadConfiguration } from '@reveille/engine'
import { presetsFolder } from '../../presets-folder.ts'
import { CommandFailure } from '../command-failure.ts'
import { usualFile } from '../configuration.ts'
import type { Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'

/**
 * The configuration given, or that in the folder given, else in this one, else in the one that `init` writes; absolute.
 * @throws CommandFailure (bad usage) when there is none
 */
export function findConfigurationIn(folder: string | undefined, io: Io): string {
  if (folder !== undefined) {
    const file = path.resolve(io.cwd, folder)
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file
    if (/\.(ya?ml|json)$/.test(folder)) throw new CommandFailure(2, `There is no ${folder}.`)
  }
  const folders = folder === undefined ? ['.', 'local'] : [folder]
  const files = folders.map((each) => path.resolve(io.cwd, each, usualFile))
  const found = files.find((file) => existsSync(file))
  if (found !== undefined) return found
  const place = folder ?? 'this folder, nor in local'
  const advice = `${programName(io)} init${folder === undefined ? '' : ` ${shellWord(folder)}`}`
  throw new CommandFailure(2, `There is no ${usualFile} in ${place}. Write a first one: ${advice}`)
}

/** Absolute. Where the configuration does not load, for another reason, those of the keys' defaults. */
export async function targetFolders(file: string, io: Io): Promise<TargetFolders> {
  const loaded = await loadConfiguration({ file, env: io.env, presets: presetsFolder() })
  if (loaded.ok) return loaded.configuration.settings.hooks
  const folder = path.dirname(file)
  return { mappingsDir: path.join(folder, 'mappings'), transformsDir: path.join(folder, 'transforms') }
}

interface TargetFolders {
  readonly mappingsDir: string
  readonly transformsDir: string
}
