/** Owns which versions make a bundle: without loading the bundler, so that what they made can be used again. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { findAuthorsTypes } from './authors-types.ts'

/** Raised whenever the same sources would become another bundle by our own code. */
const bundleFormat = 2

/** One text that is another whenever the same sources might become another bundle. */
export async function describeVersions(): Promise<string> {
  const engineFolder = path.dirname(path.dirname(findAuthorsTypes()))
  const [engine, esbuild] = await Promise.all([
    versionIn(path.join(engineFolder, 'package.json')),
    versionIn(createRequire(import.meta.url).resolve('esbuild/package.json')),
  ])
  return JSON.stringify({ bundleFormat, engine, esbuild, engineFolder })
}

async function versionIn(file: string): Promise<string> {
  return JSON.parse(await readFile(file, 'utf8')).version
}
