/** Writes the output of a build as a bundle: a file that is named after everything that decides what it does. */

import { hash, randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildResult } from 'esbuild'
import type { Bundle } from '../port.ts'
import { packageOf } from './import-hint.ts'

export type Built = BuildResult<{ metafile: true; write: false }>
type Output = Built['metafile']['outputs'][string]

/** A placeholder in the code for the path of the entry. */
export const entryMark = 'reveille:entry'

/** @param output the path that esbuild gave it, in the folder of the bundles */
export async function writeBundle(
  { outputFiles, metafile }: Built,
  output: string,
  entry: string,
): Promise<Omit<Bundle, 'module'>> {
  const textOf = (file: string) => outputFiles.find((each) => each.path === file)?.text ?? ''
  const code = textOf(output).replace(`"${entryMark}"`, JSON.stringify(entry))
  const map: Omit<SourceMapPayload, 'sources'> & { sources: (string | null)[] } = JSON.parse(
    textOf(`${output}.map`),
  )
  // A module about the path of a file is nobody's source.
  map.sources = map.sources.map((source) => (source?.startsWith('place:') ? null : source))
  const packages = await Promise.all(packageFiles([metafile.outputs[output] as Output]).map(hashOf))
  // The map's `sources` are relative to the folder of the bundles, and `doctor` compares the digests of its own bundles with a gateway's.
  const digest = hash('sha256', JSON.stringify([code, { ...map, sources: [] }, packages]))
  const file = path.join(path.dirname(output), `${digest}.mjs`)
  const signed = `${code}//# sourceMappingURL=${digest}.mjs.map\n`
  // The map is written first, so that a bundle always has its map.
  await writeWhole(`${file}.map`, JSON.stringify(map))
  await writeWhole(file, signed)
  return { digest, file, codeHash: hash('sha256', signed) }
}

/**
 * The files of packages that outputs import, with those that change whenever the package or one of its dependencies does: its manifest,
 * and what npm writes at each installation.
 */
export function packageFiles(outputs: readonly Output[]): readonly string[] {
  const imported = outputs.flatMap(({ imports }) => imports.map((each) => each.path))
  const files = imported.map((each) => (each.startsWith('file:') ? fileURLToPath(each) : each))
  const own = files.filter((file) => path.isAbsolute(file))
  return [...new Set([...own, ...own.flatMap(manifestsOf)])].sort()
}

const modulesFolder = `${path.sep}node_modules${path.sep}`

function manifestsOf(file: string): readonly string[] {
  const at = file.lastIndexOf(modulesFolder)
  if (at === -1) return []
  const modules = file.slice(0, at + modulesFolder.length)
  const name = packageOf(file.slice(modules.length).split(path.sep).join('/'))
  return [path.join(modules, name, 'package.json'), path.join(modules, '.package-lock.json')]
}

/** Null if there is no such file. */
async function hashOf(file: string): Promise<string | null> {
  const bytes = await readFile(file).catch(() => undefined)
  return bytes === undefined ? null : hash('sha256', bytes)
}

async function writeWhole(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return
  const next = path.join(path.dirname(file), `${randomUUID()}.next`)
  await writeFile(next, text, { mode: 0o600 })
  await rename(next, file)
}
