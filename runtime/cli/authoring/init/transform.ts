/** `reveille init transform`: writes a first transform, a test beside it, and what an editor needs to know its types. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { asRecord, parseJson } from '@reveille/kit'
import { packageFile } from '../../../package-folder.ts'
import { createFile } from '../../../scaffold/scaffold.ts'
import { badUsage } from '../../command-failure.ts'
import { configWords, contentFolders, findConfiguration, shownPath } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { print, shellWord } from '../../print.ts'
import { listOwnFiles } from '../own-files.ts'
import { linkPackage } from './link-package.ts'

/**
 * Never writes over a file. Beside a transform that is there it writes only the files around it that are missing.
 * @throws CommandFailure (bad usage) when no module can have this name, or there is no configuration
 */
export async function initTransform(name: string, folder: string | undefined, io: Io): Promise<number> {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/i.test(name)) {
    const advice = /\.[cm]?[jt]s$/.test(name) ? ' Leave the ending out: it becomes a .ts file.' : ''
    const what = `${JSON.stringify(name)} is not a valid name for a transform: use at most 64 letters, digits and hyphens.`
    throw badUsage(`${what}${advice}`)
  }
  const configuration = findConfiguration(io, io.config ?? folder)
  const { mappingsDir, transformsDir } = await contentFolders(configuration, io)
  const inFolder = (file: string) => path.join(transformsDir, file)
  const earlier = ['ts', 'mts']
    .map((ending) => inFolder(`${name}.${ending}`))
    .find((file) => existsSync(file))
  const type = await packageType(transformsDir)
  const hasModules = (await listOwnFiles(transformsDir)).some((file) => /\.[jt]sx?$/.test(file))
  // A package.json of `npm init` says that files are CommonJS, unless one is written below.
  const ending = type === 'commonjs' && hasModules ? 'mts' : 'ts'
  const module = earlier ?? inFolder(`${name}.${ending}`)
  const test = module.replace(/\.(m?ts)$/, '.test.$1')
  const launch = path.join(path.dirname(configuration), '.vscode', 'launch.json')
  const template = async (file: string) =>
    (await readFile(packageFile('scaffold', 'transform', file), 'utf8'))
      .replaceAll('NAME.ts', path.basename(module))
      .replaceAll('NAME', name)
  const files = [
    ...(earlier === undefined
      ? ([
          [module, await template('module.ts.txt')],
          [test, await template('module-test.ts.txt')],
        ] as const)
      : []),
    [inFolder('tsconfig.json'), await template('tsconfig.json')],
    // Without it, an `npm init` further up would make CommonJS of every module, which modules that are there may be on purpose.
    ...(type === 'module' || hasModules
      ? []
      : ([[inFolder('package.json'), '{ "type": "module" }\n']] as const)),
    [launch, await template('launch.json')],
  ] as const
  const written: string[] = []
  for (const [file, text] of files) if (await createFile(file, text)) written.push(shownPath(file, io))
  const linked = await linkPackage(transformsDir, '@reveille/engine')
  const shown = { module: shownPath(module, io), written, ...(linked && { linked: shownPath(linked, io) }) }
  return print(io, shown, () =>
    [
      ...(written.includes(shown.module) ? [] : [`${shown.module} is there; it was left as it is.`]),
      ...written.map((file) => `wrote ${file}`),
      ...(shown.linked ? [`linked ${shown.linked}, for your editor and the test`] : []),
      ...(earlier === undefined ? [nextSteps(name, { module, test, mappingsDir, configuration }, io)] : []),
    ].join('\n'),
  )
}

interface Places {
  readonly module: string
  readonly test: string
  readonly mappingsDir: string
  readonly configuration: string
}

function nextSteps(name: string, { module, test, mappingsDir, configuration }: Places, io: Io): string {
  const config = configWords(configuration, io)
  const mappings = path.join(mappingsDir, `${name}.yaml`)
  return `
A mapping calls it. Give \`transform\` to one that you have, or write into ${shownPath(mappings, io)}:

mappings:
  - id: ${name}
    match: { path: ${name} }
    transform: { module: ${path.basename(module)} }
tests:
  - name: what is opened is read by an agent
    request: { endpoint: ${name}, body: { action: opened, title: The lamp is dark, id: 42 } }
    expect: { mapping: ${name}, sessionKey: "hook:${name}:42" }

Test both:  reveille test${config}
One alone:  reveille test ${shellWord(shownPath(test, io))}${config}
Try it:     reveille try ${name} --payload body.json${config}
`
}

/** The `type` in the nearest package.json, from an absolute folder upwards. */
async function packageType(folder: string): Promise<unknown> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => undefined)
  const parent = path.dirname(folder)
  if (text === undefined) return parent === folder ? undefined : packageType(parent)
  return asRecord(parseJson(text))?.['type']
}
