/** `reveille init plugin`: writes a complete small plugin with its manifest, schema and module, and tests that it passes. */

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packageFile } from '../../../package-folder.ts'
import { CommandFailure } from '../../command-failure.ts'
import { shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { programName, shellWord } from '../../pasted.ts'
import { customaryVariable } from './channel-questions.ts'
import { linkPackage } from './link-package.ts'

const pluginKinds = ['channel', 'runner', 'source'] as const
type PluginKind = (typeof pluginKinds)[number]

/**
 * Writes into the folder `name` below the working directory, or below `folder`; never into a folder that is not empty.
 * @throws CommandFailure (bad usage) for another kind or a name that a configuration cannot hold
 */
export async function initPlugin(
  kind: string,
  name: string,
  folder: string | undefined,
  options: CommandOptions,
  io: Io,
): Promise<number> {
  if (!isKind(kind)) {
    throw new CommandFailure(
      2,
      `${JSON.stringify(kind)} is no kind of plugin. Write one of ${pluginKinds.join(', ')}.`,
    )
  }
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) {
    throw new CommandFailure(
      2,
      `${JSON.stringify(name)} is no name of a ${kind}: it takes lower-case letters, digits and hyphens, at most 64, a letter first.`,
    )
  }
  const target = path.resolve(io.cwd, folder ?? '.', name)
  if (existsSync(target) && (await readdir(target)).length > 0) {
    throw new CommandFailure(
      1,
      `${shownPath(target, io)} is there and not empty; nothing was written. Choose another name or folder.`,
    )
  }
  const written = await writeFiles(kind, name, target)
  const linked = await linkPackage(target, '@reveille/kit')
  const shown = {
    folder: shownPath(target, io),
    written: written.map((file) => shownPath(file, io)),
    ...(linked && { linked: shownPath(linked, io) }),
  }
  if (options.json) io.out(`${JSON.stringify(shown)}\n`)
  else {
    for (const file of shown.written) io.out(`wrote ${file}\n`)
    if (shown.linked) io.out(`linked ${shown.linked}, for the tests and your editor\n`)
    io.out(nextSteps(kind, name, shown.folder, io))
  }
  return 0
}

const tokenVariable = (name: string) => customaryVariable(name, 'token')

function isKind(kind: string): kind is PluginKind {
  const kinds: readonly string[] = pluginKinds
  return kinds.includes(kind)
}

/** @returns the files, absolute */
async function writeFiles(kind: PluginKind, name: string, target: string): Promise<readonly string[]> {
  const templates = packageFile('scaffold', 'plugin', kind)
  const variable = tokenVariable(name)
  await mkdir(target, { recursive: true })
  const files: string[] = []
  for (const template of (await readdir(templates)).sort()) {
    const text = await readFile(path.join(templates, template), 'utf8')
    // Files with `.test.` in their names are left out of the published package.
    const file = path.join(target, template.replace(/\.txt$/, '').replace('-test.', '.test.'))
    await writeFile(file, text.replaceAll('VARIABLE_TOKEN', variable).replaceAll('NAME', name), {
      flag: 'wx',
    })
    files.push(file)
  }
  return files
}

const configurations: Readonly<Record<PluginKind, (name: string, variable: string) => readonly string[]>> = {
  channel: (name, variable) => ['channels:', `  ${name}: { token: "\${${variable}}" }`],
  runner: (name, variable) => [
    'agents:',
    '  runners:',
    `    ${name}: { kind: ${name}, url: "http://127.0.0.1:9000", token: "\${${variable}}" }`,
  ],
  source: (name, variable) => [
    'sources:',
    `  ${name}: { url: "http://127.0.0.1:9000", token: "\${${variable}}" }`,
  ],
}

function nextSteps(kind: PluginKind, name: string, folder: string, io: Io): string {
  const variable = tokenVariable(name)
  return [
    '',
    'It speaks to a service that does not exist: put your own into index.js, and into the test what that service answers.',
    '',
    `Test it:  cd ${shellWord(folder)} && node --test     (on Node.js 24)`,
    'Use it:   add to reveille.yaml, with the path as it is seen from there:',
    '',
    `plugins: [./${folder}]`,
    ...configurations[kind](name, variable),
    '',
    'and to the file .env beside it:',
    '',
    `${variable}=…`,
    '',
    `Check it: ${programName(io)} check`,
    '',
  ].join('\n')
}
