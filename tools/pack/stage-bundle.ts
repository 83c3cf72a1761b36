/** Adds the bundle of the command to the folder from which its workspace is packed. */

import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { bundleConsole } from '../console.js'
import { replaceFile } from '../replace-file.js'
import type { Workspace } from './description.ts'
import { explainFailure } from './failure.ts'
import type { Places } from './stage.ts'

/** The units that start the package as a service of systemd. */
const units = ['reveille.service', 'reveille.socket']

/** `target`: the staged package. It depends on what the bundled workspaces depend on, in the same versions. */
export async function stageBundle(
  workspaces: readonly Workspace[],
  { root, target }: Pick<Places, 'root' | 'target'>,
): Promise<void> {
  const outdir = path.join(target, 'bundle')
  const bundling = bundle(root, outdir)
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
  for (const unit of units) await cp(path.join(root, 'deploy', 'systemd', unit), path.join(target, unit))
  const files = [...published.files, 'console', 'docs', ...units]
  await writeFile(manifest, `${JSON.stringify({ ...published, files, dependencies }, null, 2)}\n`)
}

/** Copies the pages for users and the one for coding agents, which `reveille docs` prints. Alerts and decisions stay in the repository. */
export async function stagePages({ root, target }: Pick<Places, 'root' | 'target'>): Promise<void> {
  const from = path.join(root, 'docs')
  const isForUsers = (file: string) =>
    !['alerts', 'decisions', 'node_modules'].includes(path.relative(from, file))
  await cp(from, path.join(target, 'docs'), { recursive: true, filter: isForUsers })
  await cp(path.join(root, 'SKILL.md'), path.join(target, 'docs', 'SKILL.md'))
}
