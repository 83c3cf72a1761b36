/** Fills the folder from which a workspace is packed with what users will find in `node_modules`. */

import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { renameImports } from './compile.ts'
import { entriesOf, namedFiles, publishedDescription, type Workspace } from './description.ts'
import { PackFailed } from './failure.ts'
import { findShippedSources } from './sources.ts'

/** Absolute folders. */
export interface Places {
  readonly root: string
  /** The compiled project, whose files are moved. */
  readonly compiled: string
  /** The folder of the staged package, which is created. */
  readonly target: string
  /** The packages that come with the one that has a command. */
  readonly included?: ReadonlySet<string>
}

/** @throws PackFailed if a file that the package.json names is missing */
export async function stage({ folder, description }: Workspace, places: Places): Promise<void> {
  const { root, compiled, target } = places
  const from = path.join(root, folder)
  const sources = findShippedSources(from, entriesOf(description))
  await mkdir(target, { recursive: true })
  for (const source of sources) {
    if (source.endsWith('.ts'))
      moveCompiled(source.slice(0, -'.ts'.length), path.join(compiled, folder), target)
    // JavaScript is copied: it is written for Node.js versions that read nothing newer.
    else await cp(path.join(from, source), path.join(target, source))
  }
  for (const pattern of description.files ?? []) {
    const names = globSync(pattern, { cwd: from })
    if (names.length === 0) {
      throw new PackFailed(`${folder}/package.json lists ${pattern} under files, which is not there.`)
    }
    for (const name of names) await cp(path.join(from, name), path.join(target, name), { recursive: true })
  }
  // A package may have a README of its own for npm, which shows links of the others as those of its repository.
  const readme = ['README.npm.md', 'README.md'].map((name) => path.join(from, name)).find(existsSync)
  if (readme !== undefined) await cp(readme, path.join(target, 'README.md'))
  await cp(path.join(root, 'LICENSE'), path.join(target, 'LICENSE'))
  const { engines, ...rest } = publishedDescription(description)
  // On an old Node.js npm warns of the command. It would repeat that for each package that comes with it.
  const published = places.included?.has(description.name) ? rest : { ...rest, engines }
  await writeFile(path.join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)

  const missing = namedFiles(published).filter((file) => !existsSync(path.join(target, file)))
  if (missing.length > 0) {
    throw new PackFailed(
      `${folder}/package.json names ${missing.join(', ')}, which would not be published.\n` +
        'Fix: list it under files, unless it is a misspelling.',
    )
  }
}

/** Thousands of small files take a third of the time without a promise for each. */
function moveCompiled(name: string, from: string, target: string): void {
  mkdirSync(path.dirname(path.join(target, name)), { recursive: true })
  renameSync(path.join(from, `${name}.js`), path.join(target, `${name}.js`))
  const declarations = readFileSync(path.join(from, `${name}.d.ts`), 'utf8')
  writeFileSync(path.join(target, `${name}.d.ts`), renameImports(declarations))
}
