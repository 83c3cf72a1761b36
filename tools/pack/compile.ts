/** Compiles TypeScript into what is published of it: JavaScript and declarations, file by file. */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/**
 * Compiles sources in one run, laid out like the project. Types are not checked, which `npm run check` does and which would take five times
 * as long.
 *
 * @param sources absolute
 * @throws what TypeScript says about a source that it cannot read or a type that it cannot declare
 */
export async function compileSources(
  root: string,
  sources: readonly string[],
  outputFolder: string,
): Promise<void> {
  const project = path.join(outputFolder, 'tsconfig.json')
  const emit = {
    noEmit: false,
    declaration: true,
    noCheck: true,
    incremental: false,
    rootDir: root,
    outDir: outputFolder,
  }
  const compilerOptions = { ...emit, typeRoots: [path.join(root, 'node_modules', '@types')] }
  const extended = path.join(root, 'tsconfig.json')
  await mkdir(outputFolder, { recursive: true })
  await writeFile(
    project,
    JSON.stringify({ extends: extended, compilerOptions, files: sources, include: [] }),
  )
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--singleThreaded'])
}

/** TypeScript renames imported files in JavaScript, yet leaves them as they are in declarations. */
export function renameImports(declarations: string): string {
  return declarations.replace(/\b((?:from|import)\s*\(?\s*)(['"])(\.[^'"\n]*)\.ts\2/g, '$1$2$3.js$2')
}
