/** `reveille init mapping`: copies a preset beside the configuration, to edit. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createFile } from '../../../scaffold/scaffold.ts'
import { badUsage } from '../../command-failure.ts'
import { configWords, contentFolders, findConfiguration, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { print } from '../../print.ts'
import { knownPresets, presetFile } from '../presets.ts'

/**
 * Without a name it lists the presets.
 *
 * @returns 1 where the file is there, and nothing was written
 * @throws CommandFailure (bad usage) when there is no such preset, or no configuration for it
 */
export async function initMapping(
  name: string | undefined,
  folder: string | undefined,
  io: Io,
  options: CommandOptions,
): Promise<number> {
  if (name === undefined) return listPresets(io)
  const preset = presetFile(name)
  const { as = name } = options
  if (!/^[\w-][\w.-]*$/.test(as)) throw badUsage('--as takes a name without a folder: --as my-github')
  const configuration = findConfiguration(io, io.config ?? folder)
  const { mappingsDir } = await contentFolders(configuration, io)
  const target = path.join(mappingsDir, `${as}.yaml`)
  const text = await readFile(preset, 'utf8')
  const written = await createFile(target, text)
  const file = shownPath(target, io)
  if (written || io.json) print(io, { file, written }, () => explain(name, file, configuration, io))
  else io.err(`${thereText(name, file, text === (await readFile(target, 'utf8')))}\n`)
  return written ? 0 : 1
}

function listPresets(io: Io): number {
  const presets = knownPresets()
  const all = `There are ${presets.join(', ')}.`
  const text = `${all}\n\nCopy one, to edit: reveille init mapping ${presets[0]}`
  return print(io, { presets }, () => text)
}

function thereText(name: string, file: string, same: boolean): string {
  const what = same ? 'and is the preset as it comes' : 'and is another text than the preset'
  return [
    `${file} is there, ${what}; nothing was written.`,
    `To have the preset beside it, list it under \`hooks.presets\`: your mappings replace its own of the same id.`,
    `For a copy, which must not have ids of yours: \`reveille init mapping ${name} --as my-${name}\``,
  ].join('\n')
}

function explain(name: string, file: string, configuration: string, io: Io): string {
  return [
    `wrote ${file}`,
    '',
    `\`hooks.presets: [${name}]\` is not needed for it. Where ${shownPath(configuration, io)} lists the preset,`,
    'each mapping of the copy replaces the one of the same id.',
    `Its tests come along: reveille test${configWords(configuration, io)}`,
    '',
  ].join('\n')
}
