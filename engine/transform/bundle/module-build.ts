/** Bundles one module with esbuild: everything that it imports in one self-contained file, with a source map. */

import { hash, randomUUID } from 'node:crypto'
import { appendFile, chmod, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import * as esbuild from 'esbuild'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import { type Decisive, findDecisive } from './freshness.ts'
import { describeMessage, unresolvedIn } from './message.ts'
import {
  candidatesOf,
  isPackaged,
  nearestPackage,
  packageFolderOf,
  resolvedExtensions,
} from './resolution.ts'
import { createSourcePlugin, type SourceOptions, type SourcePlugin } from './source-plugin.ts'

/** Plain data, because it is posted to a thread. */
export interface BuildRequest {
  /** The module's name in the configuration. */
  readonly module: string
  /** The absolute path of its file, with links resolved. */
  readonly entry: string
  /** The exports that mappings name. For a CommonJS module each of them must be requested. */
  readonly exports: readonly string[]
  /** `transformsDir`, with links resolved. */
  readonly root: string
  /** The configuration's folder, to which hints show other folders relative. */
  readonly shownFrom: string
  /**
   * `outside`: packages are loaded from their own places. `bundled`: only those are that look for files beside themselves.
   * Default: `bundled`.
   */
  readonly packages?: 'bundled' | 'outside'
  /** The existing folder for bundles. */
  readonly folder: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
}

export type BuildResult = BuiltModule | FailedModule

export interface BuiltModule extends Decisive {
  readonly ok: true
  /** The digest of a `Bundle`. */
  readonly digest: string
  /** Unfinished files, which are then renamed after the digest. */
  readonly code: string
  readonly map: string
  /** The SHA-256 of the code in hex. */
  readonly codeHash: string
  readonly isCommonJs: boolean
  readonly warnings: readonly Diagnostic[]
}

export interface FailedModule {
  readonly ok: false
  readonly diagnostics: readonly Diagnostic[]
  /** Files and places whose change may fix it. */
  readonly watched: readonly string[]
}

interface Run extends SourcePlugin {
  /** Absent if there are errors. */
  readonly metafile?: esbuild.Metafile | undefined
  readonly errors: readonly esbuild.Message[]
  readonly warnings: readonly esbuild.Message[]
}

const textExtensions = ['.txt', '.md', '.html', '.sql']

/** Rejects only for causes outside of the author's files, such as a full disk. */
export async function buildModule(request: BuildRequest): Promise<BuildResult> {
  const code = path.join(request.folder, `${randomUUID()}.next`)
  try {
    const outside: RunOptions['outside'] = request.packages === 'outside' ? 'all' : new Set()
    const first = await run(request, code, { outside })
    const isCommonJs = first.metafile?.inputs[request.entry]?.format === 'cjs'
    const isRepeated = isCommonJs || first.unsafe.size > 0
    const options = { isCommonJs, outside: outside === 'all' ? outside : first.unsafe }
    const last = isRepeated ? await run(request, code, options) : first
    return await finish(request, code, withFilesOf(first, last), isCommonJs)
  } catch (error) {
    await discard(code)
    throw error
  }
}

/**
 * The files of a package that turned out to stay outside were read while that was not known. A change of one of them is a change of the
 * bundle.
 */
function withFilesOf(first: Run, last: Run): Run {
  const outside = [...first.files].filter(
    (file) => isPackaged(file) && first.unsafe.has(packageFolderOf(file)),
  )
  return {
    ...last,
    files: new Set([...last.files, ...outside]),
    outside: new Set([...last.outside, ...outside]),
  }
}

interface RunOptions {
  readonly outside: SourceOptions['outside']
  readonly isCommonJs?: boolean
  readonly asWritten?: boolean
}

async function run(
  request: BuildRequest,
  code: string,
  { outside, isCommonJs = false, asWritten = false }: RunOptions,
): Promise<Run> {
  const sources = createSourcePlugin({ asWritten, outside })
  const entry = isCommonJs
    ? { stdin: { contents: commonJsEntry(request.entry, request.exports), resolveDir: request.root } }
    : { entryPoints: [request.entry] }
  try {
    const built = await esbuild.build({ ...optionsFor(request, code), ...entry, plugins: [sources.plugin] })
    return await withTruePlaces({ ...sources, ...built })
  } catch (error) {
    const { errors, warnings } = error as Partial<esbuild.BuildFailure>
    // The bundler itself failed, or cannot write.
    if (!Array.isArray(errors) || errors.length === 0) throw error
    const [{ location, pluginName, text }] = errors as [esbuild.Message]
    if (location === null && pluginName === '') throw Object.assign(new Error(text), { code: 'NOT_BUNDLED' })
    return await withTruePlaces({ ...sources, errors, warnings: warnings ?? [] })
  }

  /**
   * Messages about a rewritten file have places in the rewritten text, so a build of the unchanged files finds the true
   * ones.
   */
  async function withTruePlaces(done: Run): Promise<Run> {
    const messages = [...done.errors, ...done.warnings]
    if (asWritten || !messages.some(({ location }) => done.isRewritten(location?.file))) return done
    const again = await run(request, `${code}.again`, { outside, isCommonJs, asWritten: true })
    await discard(`${code}.again`)
    if (done.metafile === undefined) return again.metafile === undefined ? again : done
    return { ...done, warnings: again.warnings }
  }
}

function optionsFor({ entry, root }: BuildRequest, code: string) {
  return {
    absWorkingDir: root,
    absPaths: ['log', 'metafile'],
    outfile: code,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Resolves as Node.js does, without the conditions that only bundlers know.
    conditions: ['node-addons', 'module-sync'],
    resolveExtensions: resolvedExtensions,
    loader: Object.fromEntries(textExtensions.map((extension) => [extension, 'text'])),
    // Of the author's own CommonJS code: what it requires by a name that is known only when it runs is resolved from the entry.
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

/**
 * Returns the entry that gives a CommonJS module the exports of an ES module, because only running it shows its
 * exports. `module.exports` is the default export, or has it as `default`; other names are those of its properties.
 */
function commonJsEntry(file: string, names: readonly string[]): string {
  const others = [...new Set(names)].filter((name) => name !== 'default').sort()
  return [
    `const whole = require(${JSON.stringify(file)})`,
    'const holds = (typeof whole === "object" && whole !== null) || typeof whole === "function"',
    'export default holds && "default" in whole ? whole.default : whole',
    ...others.map(
      (name, index) => `const export${index} = holds ? whole[${JSON.stringify(name)}] : undefined`,
    ),
    ...others.map((name, index) => `export { export${index} as ${JSON.stringify(name)} }`),
  ].join('\n')
}

async function finish(
  request: BuildRequest,
  code: string,
  { files, outside, metafile, errors, warnings }: Run,
  isCommonJs: boolean,
): Promise<BuildResult> {
  const describe = (messages: readonly esbuild.Message[], severity: Diagnostic['severity']) =>
    Promise.all(messages.map((message) => describeMessage(message, severity, request)))
  const ours = warnings.filter(({ location }) => location === null || !isPackaged(location.file))
  const described = await describe(ours, 'warning')
  const missing = errors.flatMap((error) => {
    const { specifier, folder } = unresolvedIn(error) ?? {}
    return specifier === undefined || folder === undefined ? [] : [...candidatesOf(specifier, folder)]
  })
  const read = [...files].sort()
  const { inputs, stamps } = await findDecisive(read, metafile?.inputs ?? {}, missing, request.startedAt)
  if (metafile === undefined) {
    await discard(code)
    const diagnostics = [...(await describe(errors, 'error')), ...described]
    return { ok: false, diagnostics, watched: Object.keys(stamps) }
  }
  const signed = await sign(code, [...outside].sort())
  return { ok: true, ...signed, code, map: `${code}.map`, inputs, stamps, isCommonJs, warnings: described }
}

/** Computes the digest of a bundle, and writes the name of its source map into the code. */
async function sign(
  code: string,
  outside: readonly string[],
): Promise<{ readonly digest: string; readonly codeHash: string }> {
  const map = `${code}.map`
  const parts = {
    code: await hashFile(code),
    map: hash('sha256', withoutSources(await readFile(map, 'utf8'))),
    outside: await Promise.all(
      outside.map(async (file) => [file, await hashFile(file), (await nearestPackage(file)).version]),
    ),
  }
  const digest = hash('sha256', JSON.stringify(parts))
  await appendFile(code, `//# sourceMappingURL=${digest}.mjs.map\n`)
  await Promise.all([chmod(code, 0o600), chmod(map, 0o600)])
  return { digest, codeHash: await hashFile(code) }
}

/**
 * Removes `sources`, whose paths are relative to the folder of the bundles, because the same transform must have one
 * digest wherever it is bundled: `doctor` compares its own with that of a gateway. The code names the same files.
 */
function withoutSources(map: string): string {
  return map.replace(/^ *"sources": \[.*\],?$/m, '')
}

async function hashFile(file: string): Promise<string> {
  return hash('sha256', await readFile(file))
}

async function discard(code: string): Promise<void> {
  await Promise.all([code, `${code}.map`].map((file) => rm(file, { force: true })))
}
