/** `reveille init mapping`: copies a preset beside the configuration, to edit. */

import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { loadConfiguration } from '@reveille/engine'
import { presetsFolder } from '../../presets-folder.ts'
import { CommandFailure } from '../command-failure.ts'
import { shownPath, usualFile } from '../configuration.ts'
import type { Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { presetFile } from './presets.ts'

/** @throws CommandFailure (bad usage) when there is no such preset, or no configuration for it */
export async function initMapping(
  name: string,
  folder: string | undefined,
  options: { readonly json?: boolean },
  io: Io,
): Promise<number> {
  const preset = presetFile(name)
  const configuration = findConfigurationIn(folder, io)
  const target = path.join(await mappingsFolder(configuration, io), `${name}.yaml`)
  const written = await copyNew(preset, target)
  const file = shownPath(target, io)
  if (options.json) io.out(`${JSON.stringify({ file, written })}\n`)
  else if (!written) io.out(`${file} is there; nothing was written.\n`)
  else io.out(explain(name, file, shownPath(configuration, io), io))
  return 0
}

function explain(name: string, file: string, configuration: string, io: Io): string {
  return [
    `wrote ${file}`,
    '',
    `\`hooks.presets: [${name}]\` is not needed for it. Where ${configuration} lists the preset,`,
    'each mapping of the copy replaces the one of the same id.',
    `Its tests come along: ${programName(io)} test --config ${shellWord(configuration)}`,
    '',
  ].join('\n')
}

/** The folder given, else this one, else the one that `init` writes. */
function findConfigurationIn(folder: string | undefined, io: Io): string {
  const folders = folder === undefined ? ['.', 'local'] : [folder]
  const files = folders.map((each) => path.resolve(io.cwd, each, usualFile))
  const found = files.find((file) => existsSync(file))
  if (found !== undefined) return found
  const place = folder ?? 'this folder, nor in local'
  const advice = `${programName(io)} init${folder === undefined ? '' : ` ${shellWord(folder)}`}`
  throw new CommandFailure(2, `There is no ${usualFile} in ${place}. Write a first one: ${advice}`)
}

/** A configuration that does not load for another reason can still be given a mapping. */
async function mappingsFolder(file: string, io: Io): Promise<string> {
  const loaded = await loadConfiguration({ file, env: io.env, presets: presetsFolder() })
  return loaded.ok
    ? loaded.configuration.settings.hooks.mappingsDir
    : path.join(path.dirname(file), 'mappings')
}

async function copyNew(from: string, to: string): Promise<boolean> {
  await mkdir(path.dirname(to), { recursive: true })
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
