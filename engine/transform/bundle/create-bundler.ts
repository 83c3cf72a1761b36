/** Owns the bundles of a configuration's modules: made when something that had a say has changed, else as they were. */

import { mkdir, realpath } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Diagnostic } from '../../config/diagnostic/diagnostic.ts'
import type { Bundle, Bundled, BundleRequest, Bundler, WantedModule } from '../port.ts'
import { type Builder, createBuilder } from './builder.ts'
import { createLimit } from './concurrency.ts'
import { isAbsent } from './file-hash.ts'
import { createInspector, type Inspection } from './inspection.ts'
import { findModuleFile } from './module-file.ts'
import type { BundledModule } from './outcome.ts'
import type { BundleRecord } from './record.ts'
import { createShelf } from './shelf.ts'
import { describeVersions } from './versions.ts'

export interface BundlerOptions {
  /** Where bundles go; absolute, made when it is needed. */
  readonly folder: string
  /** Without work for so long, the bundling thread and its process are let go. Default: 5 minutes. */
  readonly idleMs?: number
  /** Default: a thread of its own. */
  readonly builder?: Builder
}

/** What became of one module. */
interface ModuleResult {
  readonly bundle?: Bundle
  readonly diagnostics: readonly Diagnostic[]
  readonly watched: readonly string[]
}

/** What modules that are bundled together share. */
interface Round {
  /** `transformsDir` and the configuration's folder, links resolved. */
  readonly root: string
  readonly shownFrom: string
  readonly inspection: Inspection
}

export function createBundler({ folder, idleMs = 300_000, builder }: BundlerOptions): Bundler {
  const building = builder ?? createBuilder({ idleMs })
  const inspector = createInspector()
  const shelf = createShelf(folder)
  const limit = createLimit(Math.max(2, Math.min(4, availableParallelism())))
  let versions: Promise<string> | undefined
  const versionsOnce = () => {
    versions ??= describeVersions()
    return versions
  }

  async function bundleModule(
    wanted: WantedModule,
    request: BundleRequest,
    round: Round,
  ): Promise<ModuleResult> {
    const { module, place } = wanted
    const { root, inspection } = round
    const found = await findModuleFile(module, request.transformsDir, root)
    if (!found.ok) {
      const { code, message, hint, watched } = found
      return { diagnostics: [{ severity: 'error', code, message, place, hint }], watched }
    }
    const { entry } = found
    const key = `${root}\0${module}`
    // Source maps name sources from where the bundles lie.
    const wantedRecord = { options: `${await versionsOnce()} ${folder}`, entry }
    const known = await shelf.recordOf(key)
    if (known && (await stillHolds(known, { ...wantedRecord, exports: wanted.exports }, inspection)))
      return resultOf(module, known, found.watched, request)

    const { shownFrom } = round
    const outcome = await building.build({ module, entry, exports: wanted.exports, root, shownFrom, folder })
    if (!outcome.ok) {
      const diagnostics = outcome.diagnostics.map((each) => ({ ...each, place: each.place ?? place }))
      return { diagnostics, watched: [...found.watched, ...outcome.watched] }
    }
    const record = { ...wantedRecord, ...recordOf(outcome, wanted.exports) }
    await shelf.put(key, record, outcome)
    return resultOf(module, record, found.watched, request)
  }

  async function stillHolds(
    record: BundleRecord,
    wanted: Pick<BundleRecord, 'options' | 'entry'> & { readonly exports: readonly string[] },
    inspection: Inspection,
  ): Promise<boolean> {
    if (record.options !== wanted.options || record.entry !== wanted.entry) return false
    if (record.exports !== null && !wanted.exports.every((name) => record.exports?.includes(name)))
      return false
    const file = shelf.fileOf(record.digest)
    return (
      (await inspection.isCurrent(record)) &&
      (await inspection.hashOf(file)) === record.codeHash &&
      (await inspection.hashOf(`${file}.map`)) === record.mapHash
    )
  }

  function resultOf(
    module: string,
    { digest, codeHash, files, places, warnings }: BundleRecord,
    watched: readonly string[],
    { transformsDir, folder: configurationFolder }: BundleRequest,
  ): ModuleResult {
    const inputs = Object.keys(files)
    // What could appear above the operator's folders is not theirs to wait for; it is noticed by the next load.
    const isNear = (place: string) => isBelow(place, transformsDir) || isBelow(place, configurationFolder)
    const bundle = { module, digest, codeHash, file: shelf.fileOf(digest), inputs }
    return {
      bundle,
      diagnostics: warnings,
      watched: [...watched, ...inputs, ...Object.keys(places).filter(isNear)],
    }
  }

  return {
    async bundle(request) {
      const { modules, transformsDir } = request
      if (modules.length === 0) return { ok: true, bundles: new Map(), watched: [], warnings: [] }
      const root = await resolveFolder(transformsDir)
      if (root === undefined) return folderMissing(request)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const shownFrom = (await resolveFolder(request.folder)) ?? request.folder
      const round = { root, shownFrom, inspection: inspector.begin() }
      const results = await Promise.all(
        modules.map((wanted) =>
          limit(() =>
            bundleModule(wanted, request, round).catch((error: Error) =>
              notBundled(wanted, transformsDir, error),
            ),
          ),
        ),
      )
      shelf.keepRecords(modules.map(({ module }) => `${root}\0${module}`))
      return gather(results, { root, transformsDir })
    },
    sweep: (keep) => shelf.sweep(keep),
    close: () => building.close(),
  }
}

function recordOf(
  outcome: BundledModule,
  exports: readonly string[],
): Omit<BundleRecord, 'options' | 'entry'> {
  const { digest, code, map, files, places, warnings, isCommonJs } = outcome
  return {
    exports: isCommonJs ? exports : null,
    digest,
    codeHash: code.hash,
    mapHash: map.hash,
    files,
    places,
    warnings,
  }
}

async function resolveFolder(folder: string): Promise<string | undefined> {
  try {
    return await realpath(folder)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
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

/** For what no author can have written. */
function notBundled({ module, place }: WantedModule, transformsDir: string, error: Error): ModuleResult {
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
  /** As the operator calls it, whatever links lead there. */
  const called = (file: string) => (isBelow(file, root) ? transformsDir + file.slice(root.length) : file)
  // A file that several modules import is told once.
  const told = new Map(
    results
      .flatMap(({ diagnostics }) => diagnostics)
      .map(({ place, ...rest }) => ({
        ...rest,
        ...(place && { place: { ...place, file: called(place.file) } }),
      }))
      .map((each) => [JSON.stringify(each), each]),
  )
  const diagnostics = [...told.values()]
  const watched = [...new Set(results.flatMap((result) => result.watched))]
  if (diagnostics.some(({ severity }) => severity === 'error')) return { ok: false, diagnostics, watched }
  const bundles = results.flatMap(({ bundle }) => (bundle ? [[bundle.module, bundle] as const] : []))
  return { ok: true, bundles: new Map(bundles), watched, warnings: diagnostics }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep)
}
