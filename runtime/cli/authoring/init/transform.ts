/** `reveille init transform`: writes a first transform, a test beside it, and what an editor needs to know its types. */

import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseJson, recordOf } from '@reveille/kit'
import { packageFile } from '../../../package-folder.ts'
import { CommandFailure } from '../../command-failure.ts'
import { configWords, contentFolders, findConfiguration, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { programName, shellWord } from '../../pasted.ts'
import { listOwnFiles, writeNew } from '../own-files.ts'
import { linkPackage } from './link-package.ts'

/**
 * Never writes over a file. Beside a transform that is there it writes only the files around it that are missing.
 * @throws CommandFailure (bad usage) when no module can have this name, or there is no configuration
 */
export async function initTransform(
  name: string,
  folder: string | undefined,
  options: CommandOptions,
  io: Io,
): Promise<number> {
  checkName(name)
  const configuration = findConfiguration({ config: options.config ?? folder }, io)
  const { mappingsDir, transformsDir } = await contentFolders(configuration, io)
  await mkdir(transformsDir, { recursive: true })
  const earlier = existingModule(name, transformsDir)
  const editorFiles = await writeEditorFiles(transformsDir, configuration, io)
  const module = earlier ?? path.join(transformsDir, `${name}.${await moduleEnding(transformsDir)}`)
  const written = [...(await writeFiles(name, module, earlier === undefined, io)), ...editorFiles]
  const linked = await linkPackage(transformsDir, '@reveille/engine')
  const shown = { module: shownPath(module, io), written, ...(linked && { linked: shownPath(linked, io) }) }
  if (options.json) io.out(`${JSON.stringify(shown)}\n`)
  else {
    io.out(summaryOf(shown))
    if (earlier === undefined) io.out(nextSteps(name, { module, mappingsDir, configuration }, io))
  }
  return 0
}

/** Writes what Node and an editor look for around modules. @returns the files that were not there, as shown */
async function writeEditorFiles(
  transformsDir: string,
  configuration: string,
  io: Io,
): Promise<readonly string[]> {
  const written: string[] = []
  const manifest = path.join(transformsDir, 'package.json')
  // Without it, an `npm init` further up would make CommonJS of every module, which modules that are there may be on purpose.
  const isNeeded = (await packageType(transformsDir)) !== 'module' && !(await holdsModules(transformsDir))
  if (isNeeded && (await writeNew(manifest, '{ "type": "module" }\n'))) written.push(shownPath(manifest, io))
  const launch = path.join(path.dirname(configuration), '.vscode', 'launch.json')
  await mkdir(path.dirname(launch), { recursive: true })
  const text = await readFile(packageFile('scaffold', 'transform', 'launch.json'), 'utf8')
  if (await writeNew(launch, text)) written.push(shownPath(launch, io))
  return written
}

async function holdsModules(folder: string): Promise<boolean> {
  return (await listOwnFiles(folder)).some((name) => /\.[jt]sx?$/.test(name))
}

function existingModule(name: string, folder: string): string | undefined {
  const files = ['ts', 'mts'].map((ending) => path.join(folder, `${name}.${ending}`))
  return files.find((file) => existsSync(file))
}

/** @returns the files that were not there, as shown, the module first */
async function writeFiles(name: string, module: string, isNew: boolean, io: Io): Promise<readonly string[]> {
  const files = {
    [path.join(path.dirname(module), 'tsconfig.json')]: 'tsconfig.json',
    ...(isNew && { [testOf(module)]: 'module-test.ts.txt', [module]: 'module.ts.txt' }),
  }
  const written: string[] = []
  for (const [file, template] of Object.entries(files)) {
    const text = await readFile(packageFile('scaffold', 'transform', template), 'utf8')
    const filled = text.replaceAll('NAME.ts', path.basename(module)).replaceAll('NAME', name)
    if (await writeNew(file, filled)) written.unshift(shownPath(file, io))
  }
  return written
}

function testOf(module: string): string {
  const ending = path.extname(module)
  return `${module.slice(0, -ending.length)}.test${ending}`
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

function summaryOf({ module, written, linked }: Shown): string {
  return [
    ...(written.includes(module) ? [] : [`${module} is there; it was left as it is.`]),
    ...written.map((file) => `wrote ${file}`),
    ...(linked ? [`linked ${linked}, for your editor and the test`] : []),
    '',
  ].join('\n')
}

interface Places {
  readonly module: string
  readonly mappingsDir: string
  readonly configuration: string
}

function nextSteps(name: string, { module, mappingsDir, configuration }: Places, io: Io): string {
  const config = configWords(configuration, io)
  const mappings = path.join(mappingsDir, `${name}.yaml`)
  return [
    '',
    `A mapping calls it. Give \`transform\` to one that you have, or write into ${shownPath(mappings, io)}:`,
    '',
    'mappings:',
    `  - id: ${name}`,
    `    match: { path: ${name} }`,
    `    transform: { module: ${path.basename(module)} }`,
    'tests:',
    '  - name: what is opened is read by an agent',
    `    request: { endpoint: ${name}, body: { action: opened, title: The lamp is dark, id: 42 } }`,
    `    expect: { mapping: ${name}, sessionKey: "hook:${name}:42" }`,
    '',
    `Test both:  ${programName(io)} test${config}`,
    `One alone:  ${programName(io)} test ${shellWord(shownPath(testOf(module), io))}${config}`,
    `Try it:     ${programName(io)} try ${name} --payload body.json${config}`,
    '',
  ].join('\n')
}

/**
 * The ending by which Node takes a new file for an ES module. A package.json of `npm init` says that files are CommonJS;
 * without a package.json Node looks into the file.
 *
 * @param folder absolute
 */
async function moduleEnding(folder: string): Promise<'ts' | 'mts'> {
  const type = await packageType(folder)
  return type === 'commonjs' ? 'mts' : 'ts'
}

/** The `type` in the nearest package.json, from an absolute folder upwards. */
async function packageType(folder: string): Promise<unknown> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined)
  const parent = path.dirname(folder)
  if (text === undefined) return parent === folder ? undefined : packageType(parent)
  return recordOf(parseJson(text))?.['type']
}
