/** Bundles the modules of a configuration, and uses a bundle again if its sources have not changed. */

import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import type { Bundle, Bundled, BundledModule, BundleRequest, Bundler } from '../port.ts'
import { type Builder, createBuilder, threadFile } from './builder.ts'
import { type CacheEntry, createBundleCache, isFresh } from './bundle-cache.ts'
import { createStampReader, type Stamps } from './freshness.ts'
import { findModuleFile, resolveLinks } from './module-file.ts'

export interface BundlerOptions {
  /** The absolute path of the folder for bundles, which is created when it is needed. */
  readonly folder: string
  /** Default: a thread of its own. */
  readonly builder?: Builder
  readonly now?: () => number
}

interface ModuleResult {
  readonly bundle?: Bundle
  readonly diagnostics: readonly Diagnostic[]
  readonly watched: readonly string[]
}

/** The values that modules share when they are bundled together. */
interface Round extends BundleRequest {
  /** `transformsDir` and the configuration's folder, with links resolved. */
  readonly root: string
  readonly shownFrom: string
  readonly readStamp: (path: string) => Promise<string | null>
}

export function createBundler({
  folder,
  builder = createBuilder(),
  now = Date.now,
}: BundlerOptions): Bundler {
  let toolStamps: Promise<Stamps> | undefined
  const cache = createBundleCache(folder, () => {
    toolStamps ??= stampTools()
    return toolStamps
  })

  async function bundleModule(wanted: BundledModule, round: Round): Promise<ModuleResult> {
    const { module, exports, place } = wanted
    const { root, shownFrom, transformsDir } = round
    const found = await findModuleFile(module, transformsDir, root)
    if (!found.ok) {
      const { code, message, hint, watched } = found
      return { diagnostics: [{ severity: 'error', code, message, place, hint }], watched }
    }
    const { entry } = found
    const key = keyOf(root, module)
    const cached = await cache.find(key)
    if (cached && (await isFresh(cached, { entry, exports }, round.readStamp)))
      return resultOf(module, cached, found.watched, round)

    const { packages = 'bundled' } = round
    const asked = { module, entry, exports, root, shownFrom, packages, folder, startedAt: now() }
    const built = await builder.build(asked)
    if (!built.ok) {
      const diagnostics = built.diagnostics.map((each) => ({ ...each, place: each.place ?? place }))
      return { diagnostics, watched: [...found.watched, ...built.watched] }
    }
    const { digest, codeHash, inputs, stamps, warnings, isCommonJs } = built
    const made = { entry, exports: isCommonJs ? exports : null, digest, codeHash, inputs, stamps, warnings }
    return resultOf(module, await cache.put(key, built, made), found.watched, round)
  }

  function resultOf(
    module: string,
    { digest, codeHash, inputs, stamps, warnings }: CacheEntry,
    watched: readonly string[],
    request: BundleRequest,
  ): ModuleResult {
    // Files that may appear above the operator's folders are not watched. The next load finds them.
    const isNear = (place: string) => isBelow(place, request.transformsDir) || isBelow(place, request.folder)
    return {
      bundle: { module, digest, codeHash, file: cache.fileOf(digest), inputs },
      diagnostics: warnings,
      watched: [...watched, ...inputs, ...Object.keys(stamps).filter(isNear)],
    }
  }

  return {
    async bundle(request) {
      const { modules, transformsDir } = request
      if (modules.length === 0) return { ok: true, bundles: new Map(), watched: [], warnings: [] }
      const root = await resolveLinks(transformsDir)
      if (root === undefined) return folderMissing(request)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const shownFrom = (await resolveLinks(request.folder)) ?? request.folder
      const round = { ...request, root, shownFrom, readStamp: createStampReader() }
      const results = await Promise.all(
        modules.map((wanted) =>
          bundleModule(wanted, round).catch((error: Error) => notBundled(wanted, transformsDir, error)),
        ),
      )
      cache.keepOnly(modules.map(({ module }) => keyOf(root, module)))
      return gather(results, { root, transformsDir })
    },
    sweep: (keep) => cache.sweep(keep),
    close: () => builder.close(),
  }
}

function keyOf(root: string, module: string): string {
  return `${root}\0${module}`
}

/** Stamps the programs that make bundles, because another version may make another bundle of the same sources. */
async function stampTools(): Promise<Stamps> {
  const read = createStampReader()
  const files = [threadFile(), createRequire(import.meta.url).resolve('esbuild/package.json')]
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await read(file)])))
}

function folderMissing({ modules, transformsDir }: BundleRequest): Bundled {
  const [first] = modules
  const diagnostic = {
    severity: 'error',
    code: 'TRANSFORM_NOT_FOUND',
    message: `there is no folder ${transformsDir} to take the transform \`${first?.module}\` from`,
    ...(first && { place: first.place }),
    hint: 'Make a first transform with `reveille init transform NAME`, or say where they are in `hooks.transformsDir`.',
  } as const
  const watched = modules.map(({ module }) => path.join(transformsDir, module))
  return { ok: false, diagnostics: [diagnostic], watched: [transformsDir, ...watched] }
}

/** Reports a failure that is not the author's fault. */
function notBundled({ module, place }: BundledModule, transformsDir: string, error: Error): ModuleResult {
  return {
    diagnostics: [
      {
        severity: 'error',
        code: 'TRANSFORM_NOT_BUNDLED',
        message: `the transform \`${module}\` could not be bundled: ${error.message}`,
        place,
        hint: 'It is not the transform that is at fault: see that esbuild is installed and the data folder has room.',
      },
    ],
    watched: [path.join(transformsDir, module)],
  }
}

function gather(
  results: readonly ModuleResult[],
  { root, transformsDir }: { readonly root: string; readonly transformsDir: string },
): Bundled {
  /** Returns the name that the operator uses, without resolved links. */
  const called = (file: string) => (isBelow(file, root) ? transformsDir + file.slice(root.length) : file)
  // A mistake in a file that several modules import is reported once.
  const reported = new Map(
    results
      .flatMap(({ diagnostics }) => diagnostics)
      .map(({ place, ...rest }) => ({
        ...rest,
        ...(place && { place: { ...place, file: called(place.file) } }),
      }))
      .map((each) => [JSON.stringify(each), each]),
  )
  const diagnostics = [...reported.values()]
  const watched = [...new Set(results.flatMap((result) => result.watched))]
  if (diagnostics.some(({ severity }) => severity === 'error')) return { ok: false, diagnostics, watched }
  const bundles = results.flatMap(({ bundle }) => (bundle ? [[bundle.module, bundle] as const] : []))
  return { ok: true, bundles: new Map(bundles), watched, warnings: diagnostics }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep)
}
