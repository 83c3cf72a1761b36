/** Adds the bundle of the command to the folder from which its workspace is packed. */

import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundle } from '../bundler.js'
import { bundleConsole } from '../console.js'
import { replaceFile } from '../replace-file.js'
import type { Workspace } from './description.ts'
import { explainFailure } from './failure.ts'
import type { Places } from './stage.ts'

/** `target`: the staged package. It depends on what the bundled workspaces depend on, in the same versions. */
export async function stageBundle(
  workspaces: readonly Workspace[],
  { root, target }: Pick<Places, 'root' | 'target'>,
): Promise<void> {
  const outdir = path.join(target, 'bundle')
  const bundling = bundle(root, { outdir, isPublished: true })
  const { outputFiles, inputs } = await explainFailure('The command cannot be bundled', bundling)
  const console = await explainFailure(
    'The console cannot be bundled',
    bundleConsole(root, path.join(target, 'console')),
  )
  for (const { path: file, contents } of [...outputFiles, ...console.outputFiles]) replaceFile(file, contents)

  // The schemas of plugins are inputs too, and their code is not.
  const code = inputs.filter((input) => /\.[jt]sx?$/.test(input))
  const bundled = workspaces.filter(({ folder }) => code.some((input) => input.startsWith(`${folder}/`)))
  const added = bundled.map(({ description }) => description.dependencies ?? {})
  const manifest = path.join(target, 'package.json')
  const published = JSON.parse(await readFile(manifest, 'utf8'))
  const dependencies = Object.assign({}, ...added, published.dependencies)
  const files = [...published.files, 'console']
  await writeFile(manifest, `${JSON.stringify({ ...published, files, dependencies }, null, 2)}\n`)
}
