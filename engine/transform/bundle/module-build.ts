/** Owns bundling one module: its import graph in one file that stands by itself, and everything that had a say in it. */

import { randomUUID } from 'node:crypto'
import { appendFile, chmod, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import * as esbuild from 'esbuild'
import type { Diagnostic } from '../../config/diagnostic/diagnostic.ts'
import { commonJsEntry } from './commonjs-entry.ts'
import { hashFile, hashText } from './file-hash.ts'
import { createGoverningFiles, isPackaged } from './governing-files.ts'
import { createGraph, type Graph } from './graph.ts'
import { describeMessage } from './message.ts'
import type { BundledModule, BundleOrder, BundleOutcome } from './outcome.ts'
import { resolvedExtensions } from './places.ts'

const textExtensions = ['.txt', '.md', '.html', '.sql']

/** Rejects for what no author can have written, such as a full disk. */
export async function buildModule(order: BundleOrder): Promise<BundleOutcome> {
  const code = path.join(order.folder, `${randomUUID()}.next`)
  try {
    const first = await run(order, code)
    const isCommonJs = first.result?.metafile?.inputs[order.entry]?.format === 'cjs'
    const last = isCommonJs ? await run(order, code, { isCommonJs }) : first
    return await finish(order, code, last, isCommonJs)
  } catch (error) {
    await discard(code)
    throw error
  }
}

interface Run {
  readonly graph: Graph
  /** Absent: there are errors. */
  readonly result?: esbuild.BuildResult
  readonly errors: readonly esbuild.Message[]
  readonly warnings: readonly esbuild.Message[]
}

async function run(
  order: BundleOrder,
  code: string,
  { isCommonJs = false, asWritten = false } = {},
): Promise<Run> {
  const graph = createGraph(createGoverningFiles(), { asWritten })
  const entry = isCommonJs
    ? { stdin: { contents: commonJsEntry(order.entry, order.exports), resolveDir: order.root } }
    : { entryPoints: [order.entry] }
  try {
    const result = await esbuild.build({ ...optionsFor(order, code), ...entry, plugins: [graph.plugin] })
    return await wellPlaced({ graph, result, errors: [], warnings: result.warnings })
  } catch (error) {
    const { errors, warnings } = error as Partial<esbuild.BuildFailure>
    // The bundler itself failed, or cannot write.
    if (!Array.isArray(errors) || errors.length === 0) throw error
    const [{ location, pluginName, text }] = errors as [esbuild.Message]
    if (location === null && pluginName === '') throw Object.assign(new Error(text), { code: 'NOT_BUNDLED' })
    return await wellPlaced({ graph, errors, warnings: warnings ?? [] })
  }

  /** Of a file that was rewritten, the places would be those of the rewritten text. */
  async function wellPlaced(done: Run): Promise<Run> {
    const messages = [...done.errors, ...done.warnings]
    if (asWritten || !messages.some(({ location }) => graph.isRewritten(location?.file))) return done
    const told = await run(order, `${code}.told`, { isCommonJs, asWritten: true })
    await discard(`${code}.told`)
    if (done.result === undefined) return told.result === undefined ? told : done
    return { ...done, warnings: told.warnings }
  }
}

function optionsFor({ entry, root }: BundleOrder, code: string) {
  return {
    absWorkingDir: root,
    absPaths: ['log', 'metafile'],
    outfile: code,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // As Node.js resolves, and without what only bundlers take.
    conditions: ['node-addons', 'module-sync'],
    resolveExtensions: [...resolvedExtensions],
    loader: Object.fromEntries(textExtensions.map((extension) => [extension, 'text'])),
    // What CommonJS asks for by a name that is known at run time only, it finds from the author's file.
    banner: {
      js: `import { createRequire as createReveilleRequire } from 'node:module'; const require = createReveilleRequire(${JSON.stringify(entry)});`,
    },
    sourcemap: 'external',
    sourcesContent: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'silent',
    logLimit: 20,
  } as const satisfies esbuild.BuildOptions
}

async function finish(
  order: BundleOrder,
  code: string,
  { graph, result, errors, warnings }: Run,
  isCommonJs: boolean,
): Promise<BundleOutcome> {
  const describe = (messages: readonly esbuild.Message[], severity: Diagnostic['severity']) =>
    Promise.all(messages.map((message) => describeMessage(message, severity, order)))
  const ours = warnings.filter(({ location }) => location === null || !isPackaged(location.file))
  const told = await describe(ours, 'warning')
  if (result?.metafile === undefined) {
    await discard(code)
    const diagnostics = [...(await describe(errors, 'error')), ...told]
    return { ok: false, diagnostics, watched: await graph.watched(errors) }
  }
  const { files, places, outside } = await graph.settle(result.metafile)
  const written = await sign(code, outside)
  return { ok: true, ...written, files, places, isCommonJs, warnings: told }
}

/** Names the bundle after its content; the code itself can then name its map. */
async function sign(
  code: string,
  outside: readonly unknown[],
): Promise<Pick<BundledModule, 'digest' | 'code' | 'map'>> {
  const map = `${code}.map`
  const [codeHash, mapHash, placesHash] = await Promise.all([hashFile(code), hashFile(map), hashPlaces(map)])
  const digest = hashText(JSON.stringify({ code: codeHash, map: placesHash, outside }))
  await appendFile(code, `//# sourceMappingURL=${digest}.mjs.map\n`)
  await Promise.all([chmod(code, 0o600), chmod(map, 0o600)])
  const signed = await hashFile(code)
  if (signed === undefined || mapHash === undefined) throw new Error(`the bundle ${code} is gone`)
  return { digest, code: { file: code, hash: signed }, map: { file: map, hash: mapHash } }
}

/**
 * The hash of a map without its `sources`. They are written as they are seen from the folder of the bundles, and the same
 * transform has one digest wherever it is bundled: the command line compares its own with that of a gateway. The code
 * names the same files.
 */
async function hashPlaces(map: string): Promise<string> {
  return hashText((await readFile(map, 'utf8')).replace(/^ *"sources": \[.*\],?$/m, ''))
}

async function discard(code: string): Promise<void> {
  await Promise.all([code, `${code}.map`].map((file) => rm(file, { force: true })))
}
