/** Finds the tests to run: those of a configuration, or those of presets without one. */

import path from 'node:path'
import { type Files, type Loaded, loadConfiguration, realFiles } from '@reveille/engine'
import { presetsFolder } from '../../../presets-folder.ts'
import { CommandFailure } from '../../command-failure.ts'
import { findConfiguration, load, shownPath } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { knownPresets, presetFile } from '../presets.ts'

export interface SourceOptions {
  readonly config?: string
  readonly preset?: readonly string[]
  readonly presets?: 'all'
}

export interface TestSource {
  /** The name for people: a file, or the presets. */
  readonly name: string
  /** The folder where patterns are looked up as files, besides the working directory. */
  readonly folder: string
  /** Whether there may be transforms with tests of their own. */
  readonly hasTransforms: boolean
  load(): Promise<Loaded>
}

/** @throws CommandFailure (bad usage) when there is no such file or preset */
export function findTestSource(options: SourceOptions, io: Io): TestSource {
  const { config, preset = [], presets } = options
  if (preset.length === 0 && presets === undefined) {
    const file = findConfiguration(options, io)
    return {
      name: shownPath(file, io),
      folder: path.dirname(file),
      hasTransforms: true,
      load: () => load({ ...options, allowsUnset: true }, io),
    }
  }
  if (config !== undefined)
    throw new CommandFailure(2, 'Presets are tested without a configuration; leave out --config.')
  const names = presets === 'all' ? knownPresets() : preset
  names.forEach(presetFile)
  const folder = presetsFolder()
  return {
    name: names.length === 1 ? `the preset ${names[0]}` : `${names.length} presets`,
    folder,
    hasTransforms: false,
    load: () => loadPresets(folder, names),
  }
}

/** Loads a configuration that exists in memory alone, in the folder of presets, and only names them. */
function loadPresets(folder: string, names: readonly string[]): Promise<Loaded> {
  const file = path.join(folder, 'presets.json')
  const text = Buffer.from(JSON.stringify({ hooks: { presets: names } }))
  const files: Files = {
    ...realFiles,
    readFile: async (asked) => (asked === file ? text : realFiles.readFile(asked)),
    stat: async (asked) =>
      asked === file
        ? { isFile: () => true, isDirectory: () => false, size: text.length }
        : realFiles.stat(asked),
  }
  return loadConfiguration({ file, env: {}, files, presets: folder })
}
