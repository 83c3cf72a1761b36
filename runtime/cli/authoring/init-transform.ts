/** `reveille init transform`: writes a first transform, a test beside it, and what an editor needs to know its types. */

import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import { packageFile } from '../package-folder.ts'
import { programName, shellWord } from '../pasted.ts'
import { findConfigurationIn, folderOf } from './init-target.ts'
import { linkTypes } from './link-types.ts'

/**
 * Never over a file. Beside a transform that is there it only writes what it lacks of its surroundings.
 * @throws CommandFailure (bad usage) when no module can have this name, or there is no configuration
 */
export async function initTransform(
  name: string,
  folder: string | undefined,
  options: { readonly json?: boolean },
  io: Io,
): Promise<number> {
  checkName(name)
  const configuration = findConfigurationIn(folder, io)
  const target = await folderOf('transformsDir', configuration, io)
  await mkdir(target, { recursive: true })
  const module = path.join(target, `${name}.ts`)
  const isNew = !existsSync(module)
  const files = {
    [path.join(target, 'tsconfig.json')]: 'tsconfig.json',
    ...(isNew && { [path.join(target, `${name}.test.ts`)]: 'module-test.ts.txt', [module]: 'module.ts.txt' }),
  }
  const written: string[] = []
  for (const [file, template] of Object.entries(files)) {
    const text = await readFile(packageFile('scaffold', 'transform', template), 'utf8')
    if (await writeNew(file, text.replaceAll('NAME', name))) written.unshift(shownPath(file, io))
  }
  const linked = await linkTypes(target)
  const shown = { module: shownPath(module, io), written, ...(linked && { linked: shownPath(linked, io) }) }
  if (options.json) io.out(`${JSON.stringify(shown)}\n`)
  else io.out([...tell(shown), '', ...(isNew ? nextSteps(name, module, configuration, io) : [])].join('\n'))
  return 0
}

function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/i.test(name)) return
  const advice = /\.[cm]?[jt]s$/.test(name) ? ' Leave the ending out: it becomes a .ts file.' : ''
  throw new CommandFailure(
    2,
    `${JSON.stringify(name)} is no name of a transform: letters, digits and hyphens, at most 64.${advice}`,
  )
}

interface Shown {
  readonly module: string
  readonly written: readonly string[]
  readonly linked?: string
}

function tell({ module, written, linked }: Shown): readonly string[] {
  return [
    ...(written.includes(module) ? [] : [`${module} is there; it was left as it is.`]),
    ...written.map((file) => `wrote ${file}`),
    ...(linked ? [`linked ${linked}, for your editor and the test`] : []),
  ]
}

function nextSteps(name: string, module: string, configuration: string, io: Io): readonly string[] {
  const config = `--config ${shellWord(shownPath(configuration, io))}`
  const test = shownPath(module.replace(/\.ts$/, '.test.ts'), io)
  return [
    `A mapping calls it. In a file of your mappings, for what is posted to /hooks/${name}:`,
    '',
    'mappings:',
    `  - id: ${name}`,
    `    match: { path: ${name} }`,
    `    transform: { module: ${name}.ts }`,
    '',
    `Its test:   node --test ${shellWord(test)}`,
    `Try it:     ${programName(io)} try ${name} --payload body.json ${config}`,
    '',
  ]
}

async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
