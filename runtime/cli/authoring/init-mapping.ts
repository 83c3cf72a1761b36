/** `reveille init mapping`: copies a preset beside the configuration, to edit. */

import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { findConfigurationIn, targetFolders } from './init-target.ts'
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
  const { mappingsDir } = await targetFolders(configuration, io)
  const target = path.join(mappingsDir, `${name}.yaml`)
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
