/** Bundles the modules of a configuration with esbuild. A bundle holds the author's files that its module imports, and has a source map. */

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type BuildContext, type BuildFailure, context, type Message } from 'esbuild'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import type { Bundle, Bundled, BundleRequest } from '../port.ts'
import { type Built, entryMark, packageFiles, writeBundle } from './bundle-file.ts'
import { foldersFrom, type HintFolders, isRelative, packageOf } from './import-hint.ts'
import { describeMessage, unresolvedIn } from './message.ts'
import { findModuleFile, resolveLinks } from './module-file.ts'
import { createSourcesPlugin, isPackaged, placeDefines } from './sources-plugin.ts'

export interface BundlingRequest extends BundleRequest {
  /** The folder of the bundles; absolute. It is created when it is needed. */
  readonly bundlesDir: string
}

/** A build without errors has outputs and a metafile. */
type BuildOutcome = Pick<Built, 'errors' | 'warnings'> & Partial<Built>

/** The build of one list of entries. esbuild keeps what it parsed for the next build of the same list. */
interface Build {
  readonly key: string
  readonly context: BuildContext<{ metafile: true; write: false }>
  /** The author's scripts that the last build has read. */
  readonly scripts: Set<string>
}

export interface Bundler {
  /** Rejects only for causes outside of the author's files, such as a full disk. */
  bundle(request: BundlingRequest): Promise<Bundled>
  /** Frees what esbuild keeps. */
  dispose(): Promise<void>
}

export function createBundler(): Bundler {
  let last: Build | undefined

  async function dispose(): Promise<void> {
    const disposed = last
    last = undefined
    await disposed?.context.dispose()
  }

  async function build(entries: readonly string[], root: string, bundles: string) {
    const key = JSON.stringify([entries, root, bundles])
    if (last?.key !== key) {
      await dispose()
      const scripts = new Set<string>()
      last = { key, scripts, context: await context(optionsFor(entries, root, bundles, scripts)) }
    }
    const { context: opened, scripts } = last
    scripts.clear()
    const outcome: BuildOutcome = await opened.rebuild().catch(failureOf)
    return { outcome, scripts }
  }

  async function bundle(request: BundlingRequest): Promise<Bundled> {
    const { modules, transformsDir, bundlesDir } = request
    const root = await resolveLinks(transformsDir)
    if (root === undefined) return missingFolder(request)
    const shownFolder = (await resolveLinks(request.folder)) ?? request.folder
    const found = await Promise.all(
      modules.map(async ({ module, place }) => ({
        module,
        place,
        ...(await findModuleFile(module, transformsDir, root)),
      })),
    )
    const entries = [...new Set(found.flatMap((each) => (each.ok ? [each.entry] : [])))]
    const { outcome, scripts } = await build(entries, root, bundlesDir)

    const missing = found.flatMap((each): Diagnostic[] => {
      if (each.ok) return []
      const { code, message, hint, place } = each
      return [{ severity: 'error', code, message, place, hint }]
    })
    // Diagnostics name files as the operator does, without resolving symbolic links.
    const shownFile = (file: string) => (isBelow(file, root) ? transformsDir + file.slice(root.length) : file)
    const diagnostics = [...missing, ...(await describe(outcome, { root, shownFrom: shownFolder }))].map(
      ({ place, ...rest }) => ({
        ...rest,
        ...(place && { place: { ...place, file: shownFile(place.file) } }),
      }),
    )
    const isOwn = (file: string) => isBelow(file, root) || isBelow(file, shownFolder)
    const watched = [
      ...found.flatMap((each) => each.watched),
      ...watchedOf(outcome, scripts, isOwn).map(shownFile),
    ]
    if (outcome.metafile === undefined || missing.length > 0)
      return { ok: false, diagnostics, watched: [...new Set(watched)] }

    await mkdir(bundlesDir, { recursive: true, mode: 0o700 })
    const written = new Map<string, Omit<Bundle, 'module'>>()
    for (const [index, entry] of entries.entries())
      written.set(entry, await writeBundle(outcome as Built, path.join(bundlesDir, `${index}.mjs`), entry))
    const bundleOf = found.flatMap((each): [string, Bundle][] => {
      const bundle = each.ok && written.get(each.entry)
      return bundle ? [[each.module, { module: each.module, ...bundle }]] : []
    })
    return { ok: true, bundles: new Map(bundleOf), watched: [...new Set(watched)], warnings: diagnostics }
  }

  return { bundle, dispose }
}

const textExtensions = ['.txt', '.md', '.html', '.sql']

function optionsFor(entries: readonly string[], root: string, bundles: string, scripts: Set<string>) {
  return {
    entryPoints: entries.map((entry, index) => ({ in: entry, out: String(index) })),
    absWorkingDir: root,
    absPaths: ['log', 'metafile'],
    outdir: bundles,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Resolves as Node.js does, without the conditions and fields that only bundlers know.
    conditions: ['node-addons', 'module-sync'],
    mainFields: ['main'],
    resolveExtensions: ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'],
    loader: Object.fromEntries(textExtensions.map((extension) => [extension, 'text' as const])),
    define: placeDefines,
    plugins: [createSourcesPlugin((file) => scripts.add(file))],
    // A dynamic `require` in CommonJS resolves from the entry.
    banner: {
      js: `import { createRequire as createReveilleRequire } from 'node:module'; const require = createReveilleRequire("${entryMark}");`,
    },
    sourcemap: 'external' as const,
    sourcesContent: true,
    legalComments: 'none' as const,
    metafile: true as const,
    write: false as const,
    logLevel: 'silent' as const,
    logLimit: 20,
  } satisfies Parameters<typeof context>[0]
}

/** @throws an error that is not about the author's files, because esbuild itself failed */
function failureOf(error: BuildFailure): BuildOutcome {
  const { errors, warnings = [] } = error
  if (!Array.isArray(errors) || errors.length === 0) throw error
  const [{ location, pluginName, text }] = errors as [Message]
  if (location === null && pluginName === '') throw new Error(text)
  return { errors, warnings }
}

async function describe(
  { errors, warnings }: BuildOutcome,
  folders: HintFolders,
): Promise<readonly Diagnostic[]> {
  const own = warnings.filter(({ location }) => location === null || !isPackaged(location.file))
  return Promise.all([
    ...errors.map((message) => describeMessage(message, 'error', folders)),
    ...own.map((message) => describeMessage(message, 'warning', folders)),
  ])
}

/** The files that a build depends on, and the paths where a missing import may appear. */
function watchedOf(
  { metafile, errors, warnings }: BuildOutcome,
  scripts: ReadonlySet<string>,
  isOwn: (file: string) => boolean,
): readonly string[] {
  const reported = [...errors, ...warnings].flatMap(({ location }) => (location ? [location.file] : []))
  const inputs = [...scripts, ...Object.keys(metafile?.inputs ?? {}), ...reported]
  const files = [...new Set(inputs)].filter((file) => path.isAbsolute(file))
  const folders = new Set(files.flatMap((file) => [...foldersFrom(path.dirname(file))]))
  const missing = errors.flatMap((error) => {
    const { specifier, folder } = unresolvedIn(error) ?? {}
    if (specifier === undefined || folder === undefined) return []
    if (isRelative(specifier)) return [path.dirname(path.resolve(folder, specifier))]
    return [...foldersFrom(folder)].map((each) => path.join(each, 'node_modules', packageOf(specifier)))
  })
  const own = [
    ...[...folders].flatMap((folder) => [
      path.join(folder, 'package.json'),
      path.join(folder, 'tsconfig.json'),
    ]),
    ...missing,
  ].filter(isOwn)
  return [...files, ...packageFiles(Object.values(metafile?.outputs ?? {})), ...own]
}

function missingFolder({ modules, transformsDir }: BundleRequest): Bundled {
  const [first] = modules
  const diagnostic = {
    severity: 'error',
    code: 'TRANSFORM_NOT_FOUND',
    message: `the transform \`${first?.module}\` cannot be loaded: the folder ${transformsDir} does not exist`,
    ...(first && { place: first.place }),
    hint: 'Make a first transform with `reveille init transform NAME`, or say where they are in `hooks.transformsDir`.',
  } as const
  const watched = modules.map(({ module }) => path.join(transformsDir, module))
  return { ok: false, diagnostics: [diagnostic], watched: [transformsDir, ...watched] }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep)
}
