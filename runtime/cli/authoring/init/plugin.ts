/** `reveille init plugin`: writes a small, complete plugin: manifest, schema, module, and tests that pass. */

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { packageFile } from '../../../package-folder.ts'
import { createFile } from '../../../scaffold/scaffold.ts'
import { badUsage, failure } from '../../command-failure.ts'
import { shownPath } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { print, shellWord } from '../../print.ts'
import { customaryVariable } from './channel-questions.ts'
import { linkPackage } from './link-package.ts'

/** The configuration that uses a plugin of each kind; `init channel` writes that of a channel. */
const configurations = {
  channel: undefined,
  runner: (name: string, token: string) => `agents:
  runners:
    ${name}: { kind: ${name}, url: "http://127.0.0.1:9000", token: "${token}" }`,
  source: (name: string, token: string) => `sources:
  ${name}: { url: "http://127.0.0.1:9000", token: "${token}" }`,
}

type PluginKind = keyof typeof configurations

/** Writes into the folder `name` below the working directory, or below `folder`; never into a folder that is not empty. */
export async function initPlugin(
  kind: PluginKind,
  name: string,
  folder: string | undefined,
  io: Io,
): Promise<number> {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) {
    const rule = 'use at most 64 lower-case letters, digits and hyphens, starting with a letter'
    throw badUsage(`${JSON.stringify(name)} is not a valid name for a ${kind}: ${rule}.`)
  }
  const target = path.resolve(io.cwd, folder ?? '.', name)
  const shownTarget = shownPath(target, io)
  if (existsSync(target) && (await readdir(target)).length > 0) {
    const message = `${shownTarget} already exists and is not empty; nothing was written. Choose another name or folder.`
    throw failure(message)
  }
  const variable = customaryVariable(name, 'token')
  const written = (await writeFiles(kind, name, variable, target)).map((file) => shownPath(file, io))
  const linked = await linkPackage(target, '@reveille/kit')
  const shown = { folder: shownTarget, written, ...(linked && { linked: shownPath(linked, io) }) }
  const link = shown.linked ? `linked ${shown.linked}, for the tests and your editor\n` : ''
  return print(
    io,
    shown,
    () => `${written.map((file) => `wrote ${file}\n`).join('')}${link}
It calls a service that does not exist: call yours in index.js, and put the answers of yours into the test.

Test it:  cd ${shellWord(shownTarget)} && npx -p node@24 node --test   (on Node.js 24: node --test)
Use it:   add to reveille.yaml, with a path relative to that file:

plugins: [./${shownTarget}]
${nextSteps(kind, name, variable)}`,
  )
}

function nextSteps(kind: PluginKind, name: string, variable: string): string {
  const configuration = configurations[kind]?.(name, `\${${variable}}`)
  if (configuration === undefined)
    return `
and let this command ask for the settings, test them and write them:

reveille init channel ${name}
`
  return `${configuration}

and to the file .env beside it:

${variable}=…

Check it: reveille check
`
}

/** @returns the files, absolute */
async function writeFiles(
  kind: PluginKind,
  name: string,
  variable: string,
  target: string,
): Promise<readonly string[]> {
  const templates = packageFile('scaffold', 'plugin', kind)
  const files: string[] = []
  for (const template of (await readdir(templates)).sort()) {
    const text = await readFile(path.join(templates, template), 'utf8')
    // Files with `.test.` in their names are left out of the published package.
    const file = path.join(target, template.replace(/\.txt$/, '').replace('-test.', '.test.'))
    const filled = text.replaceAll('VARIABLE_TOKEN', variable).replaceAll('NAME', name)
    await createFile(file, filled)
    files.push(file)
  }
  return files
}
