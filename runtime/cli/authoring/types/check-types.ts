/** Owns what the TypeScript compiler finds in a folder of transforms, told as diagnostics. */

import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Configuration, Diagnostic } from '@reveille/engine'
import { findCompiler } from './compiler.ts'
import { readFindings } from './findings.ts'
import { projectFor } from './project.ts'
import { listSources } from './sources.ts'

/** Of all modules that mappings name, and of everything else in the folder. Starts the compiler; loads nothing. */
export async function checkTypes({ mappings, settings }: Configuration): Promise<readonly Diagnostic[]> {
  const { transformsDir } = settings.hooks
  const folder = await realpath(transformsDir).catch(() => undefined)
  const sources = folder === undefined ? [] : await listSources(folder)
  // A module that is missing is for loading to tell.
  if (folder === undefined || sources.length === 0) return []
  const compiler = await findCompiler(folder)
  if (compiler === undefined) return [compilerMissing(settings.file, transformsDir)]

  const named = new Set(mappings.flatMap(({ value }) => value.transform?.module ?? []))
  const project = await projectFor({ folder, sources, named, compiler })
  const workshop = await mkdtemp(path.join(tmpdir(), 'reveille-types-'))
  try {
    const file = path.join(workshop, 'tsconfig.json')
    await writeFile(file, JSON.stringify(project))
    const output = await compiler.run(['-p', file], folder)
    return await readFindings(output, { folder, calledFolder: transformsDir })
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
}

/** An `npm install` within the folder of transforms would take the link to our types out of it. */
function compilerMissing(configFile: string, transformsDir: string): Diagnostic {
  const isBelow = !path.relative(path.dirname(configFile), transformsDir).startsWith('..')
  const where = isBelow ? 'the folder of the configuration' : transformsDir
  return {
    severity: 'error',
    code: 'TYPESCRIPT_MISSING',
    message: `there is no TypeScript compiler to check ${transformsDir} with`,
    hint: `Run \`npm install --prefix . --save-dev typescript @types/node\` in ${where}.`,
  }
}
