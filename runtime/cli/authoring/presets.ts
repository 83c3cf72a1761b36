/** Lists the presets, and finds the file of one by its name. */

import { readdirSync } from 'node:fs'
import path from 'node:path'
import { nearestName } from '@reveille/engine/text'
import { presetsFolder } from '../../presets-folder.ts'
import { badUsage } from '../command-failure.ts'

const ending = '.yaml'

/** Sorted. */
export function knownPresets(): readonly string[] {
  const files = readdirSync(presetsFolder()).filter((file) => file.endsWith(ending))
  return files.map((file) => path.basename(file, ending)).sort()
}

/**
 * The preset's file; absolute.
 * @throws CommandFailure (bad usage) when there is none of that name
 */
export function presetFile(name: string): string {
  const presetNames = knownPresets()
  if (presetNames.includes(name)) return path.join(presetsFolder(), `${name}${ending}`)
  const nearest = nearestName(name, presetNames)
  const guess = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw badUsage(`There is no preset ${name}.${guess} There are ${presetNames.join(', ')}.`)
}
