/** Packs the workspaces: each becomes a folder of JavaScript, and that folder a tarball. */

import { rm } from 'node:fs/promises'
import path from 'node:path'
import { runNpm } from './npm.ts'
import { compileSources } from './pack/compile.ts'
import { entriesOf, readWorkspaces } from './pack/description.ts'
import { explainFailure } from './pack/failure.ts'
import { findShippedSources } from './pack/sources.ts'
import { stage } from './pack/stage.ts'
import { stageBundle, stagePages } from './pack/stage-bundle.ts'

export interface Packed {
  readonly name: string
  readonly version: string
  /** The tarball; absolute. */
  readonly file: string
  readonly bytes: number
  readonly fileCount: number
}

/** The job `npm run pack`. */
export async function pack(root: string): Promise<void> {
  for (const packed of await packWorkspaces(root, path.join(root, 'build', 'packages'))) {
    console.log(
      [
        `${packed.name}@${packed.version}`.padEnd(30),
        `${packed.fileCount} files`.padStart(9),
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
  const main = workspaces.find(({ description }) => description.bin !== undefined)
  const included = new Set(Object.keys(main?.description.dependencies ?? {}))
  const targets = await Promise.all(
    workspaces.map(async (workspace) => {
      const target = path.join(folder, path.basename(workspace.description.name))
      await stage(workspace, { root, compiled, target, included })
      if (workspace === main) {
        await stageBundle(workspaces, { root, target })
        await stagePages({ root, target })
      }
      return target
    }),
  )
  await rm(compiled, { recursive: true })

  const options = ['--json', '--pack-destination', folder, '--loglevel=error', '--ignore-scripts']
  const packing = runNpm(['pack', ...targets, ...options], { cwd: folder })
  const packed: readonly NpmPacked[] = JSON.parse(await explainFailure('npm cannot pack', packing))
  return packed.map(({ name, version, filename, size, entryCount }) => ({
    name,
    version,
    file: path.join(folder, filename),
    bytes: size,
    fileCount: entryCount,
  }))
}

/** npm's report on each tarball, in the order of its arguments. */
interface NpmPacked extends Pick<Packed, 'name' | 'version'> {
  readonly filename: string
  readonly size: number
  readonly entryCount: number
}
