/** Finds the tests to run: those of a configuration, or those of presets without one. */

import path from 'node:path'
import type { Loaded } from '@reveille/engine'
import { presetsFolder } from '../../../presets-folder.ts'
import { badUsage } from '../../command-failure.ts'
import { findConfiguration, load, loadText, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { knownPresets, presetFile } from '../presets.ts'

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
export function findTestSource(options: CommandOptions, io: Io): TestSource {
  const { preset = [], presets } = options
  if (preset.length === 0 && presets === undefined) {
    const file = findConfiguration(io)
    return {
      name: shownPath(file, io),
      folder: path.dirname(file),
      hasTransforms: true,
      load: () => load(io, { allowsUnset: true }),
    }
  }
  if (io.config !== undefined)
    throw badUsage('Presets are tested without a configuration; leave out --config.')
  const names = presets === 'all' ? knownPresets() : preset
  names.forEach(presetFile)
  const folder = presetsFolder()
  return {
    name: names.length === 1 ? `the preset ${names[0]}` : `${names.length} presets`,
    folder,
    hasTransforms: false,
    // This configuration exists in memory alone, and only names the presets.
    load: () =>
      loadText(path.join(folder, 'presets.json'), JSON.stringify({ hooks: { presets: names } }), {}),
  }
}
