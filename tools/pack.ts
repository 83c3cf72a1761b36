/** Packs the workspaces: each becomes a folder of JavaScript, and that folder a tarball. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { runNpm } from './npm.ts'
import { compileSources } from './pack/compile.ts'
import { entriesOf, readWorkspaces } from './pack/description.ts'
import { explainFailure, PackFailed } from './pack/failure.ts'
import { findShippedSources } from './pack/sources.ts'
import { stage } from './pack/stage.ts'

export interface Packed {
  readonly name: string
  readonly version: string
  /** The tarball; absolute. */
  readonly file: string
  readonly bytes: number
  /** The files in it, by their paths in the package. */
  readonly contents: readonly string[]
}

/** The job `npm run pack`. */
export async function pack(root: string): Promise<void> {
  for (const packed of await packWorkspaces(root, path.join(root, 'build', 'packages'))) {
    console.log(
      [
        `${packed.name}@${packed.version}`.padEnd(30),
        `${packed.contents.length} files`.padStart(9),
        `${(packed.bytes / 1024).toFixed(1)} KB`.padStart(9),
        path.relative(process.cwd(), packed.file),
      ].join('  '),
    )
  }
}

/**
 * Stages every workspace that is not private in a folder under `folder`, and packs it beside that. The earlier content of `folder` is
 * deleted.
 *
 * @throws PackFailed
 */
export async function packWorkspaces(root: string, folder: string): Promise<readonly Packed[]> {
  const workspaces = readWorkspaces(root)
  await rm(folder, { recursive: true, force: true })
  const compiled = path.join(folder, 'compiled')
  const sources = workspaces.flatMap((workspace) => {
    const from = path.join(root, workspace.folder)
    return findShippedSources(from, entriesOf(workspace.description)).map((source) => path.join(from, source))
  })
  await explainFailure('The sources cannot be compiled', compileSources(root, sources, compiled))
  const staged = await Promise.all(
    workspaces.map(async (workspace) => {
      const { name, version } = workspace.description
      const target = path.join(folder, name.split('/').at(-1) ?? name)
      await stage(workspace, { root, compiled, target })
      return { name, version, target }
    }),
  )
  await rm(compiled, { recursive: true })

  const targets = staged.map(({ target }) => target)
  const options = ['--pack-destination', folder, '--loglevel=error', '--ignore-scripts']
  await explainFailure('npm cannot pack', runNpm(['pack', ...targets, ...options], { cwd: folder }))
  return staged.map(({ name, version, target }) => {
    const file = path.join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    if (!existsSync(file)) throw new PackFailed(`npm packed ${name} as something else than ${file}.`)
    return { name, version, file, bytes: statSync(file).size, contents: filesOf(target) }
  })
}

function filesOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name))).sort()
}
