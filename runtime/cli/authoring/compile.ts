/** Compiles a configuration into a snapshot as the gateway would, and starts nothing but its transforms. */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildCandidate,
  CandidateError,
  type Configuration,
  createCompiler,
  type Diagnostic,
  type Loaded,
  type Randomness,
  randomId,
  type Snapshot,
  type TransformEvent,
} from '@reveille/engine'
import {
  checkPlugins,
  createPluginHost,
  located,
  type PluginHost,
  prepareCandidate,
  withPluginContent,
} from '../../plugin/index.ts'
import { findDriver, isDatabase, storeDiagnostic } from '../../store/driver-package.ts'
import { createIdMinter } from '../../store/id.ts'
import { StoreError } from '../../store/port.ts'
import { hostTransforms } from '../../transforms.ts'
import { failure } from '../command-failure.ts'
import { formatDiagnostics, load, reportUnset } from '../configuration.ts'
import type { Io } from '../io.ts'

export type Compiled =
  | {
      readonly ok: true
      readonly configuration: Configuration
      readonly snapshot: Snapshot
      readonly warnings: readonly Diagnostic[]
      /** Ends its transforms. */
      close(): Promise<void>
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly watched: readonly string[] }

/** The caller closes the result; {@link withCompiled} does so by itself. */
async function compile(loaded: Loaded, io: Io, { startsPlugins = false } = {}): Promise<Compiled> {
  const randomness: Randomness = { mint: createIdMinter(io.now), randomId }
  // Bundles go to a folder of their own, since the user who checks a configuration may not be the one of the gateway.
  const folder = join(tmpdir(), `reveille-${randomUUID()}`)
  const transforms = hostTransforms({ folder, onEvent: (event) => reportOutput(event, io) })
  let host: PluginHost | undefined
  const openHost = async () => {
    const { default: pino } = await import('pino')
    host = createPluginHost({ log: pino({ level: 'silent' }) })
    return host
  }
  const close = async () => {
    await host?.close()
    await transforms.close()
    await rm(folder, { recursive: true, force: true })
  }
  let watched: readonly string[] = []
  let current: Configuration
  const built = await buildCandidate(
    {
      load: async () => withPluginContent(loaded),
      ...transforms.parts,
      compile: (configuration, bound) =>
        located(configuration, async () => {
          const catalog = checkPlugins(configuration.settings, undefined, configuration.endpoints)
          checkDriver(configuration)
          current = configuration
          return createCompiler({ randomness }).compile(configuration, catalog, bound)
        }),
      prepare: async (snapshot, options) => prepareCandidate(await openHost(), current, snapshot, options),
    },
    {
      isDryRun: true,
      isForRequests: !startsPlugins,
      isSuperseded: () => false,
      onWatched: (paths) => {
        watched = paths
      },
    },
  )
  if (built.outcome === 'ready') {
    const { source, snapshot, warnings } = built.candidate
    const configuration = { ...source.configuration, watched }
    return { ok: true, configuration, snapshot, warnings, close }
  }
  await close()
  return { ok: false, diagnostics: built.outcome === 'rejected' ? built.diagnostics : [], watched }
}

/** @throws CandidateError where the package for the database of `gateway.store` is missing */
function checkDriver({ settings, locate }: Configuration): void {
  const { file: configFile } = settings
  const { store: location } = settings.gateway
  try {
    if (isDatabase(location)) findDriver({ location, configFile })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new CandidateError([storeDiagnostic(error, locate(['gateway', 'store']))], { cause: error })
  }
}

/** Returns what `use` makes of the snapshot or the errors. `startsPlugins`: as a start does, but reaching nobody. */
export async function withCompiled<Result>(
  loaded: Loaded,
  io: Io,
  use: (compiled: Compiled) => Result | Promise<Result>,
  options: { readonly startsPlugins?: boolean } = {},
): Promise<Result> {
  const compiled = await compile(loaded, io, options)
  try {
    return await use(compiled)
  } finally {
    if (compiled.ok) await compiled.close()
  }
}

/** Returns what `use` makes of the snapshot, also where secrets are not set. @throws CommandFailure with the diagnostics */
export async function withSnapshot<Result>(
  io: Io,
  use: (snapshot: Snapshot, configuration: Configuration) => Promise<Result>,
): Promise<Result> {
  return withCompiled(await load(io, { allowsUnset: true }), io, (compiled) => {
    if (compiled.ok) {
      reportUnset(compiled.configuration, io)
      return use(compiled.snapshot, compiled.configuration)
    }
    throw failure(formatDiagnostics(compiled.diagnostics, io))
  })
}

function reportOutput(event: TransformEvent, io: Io): void {
  if (event.type === 'transform-output') io.err(`${event.module}: ${event.text}\n`)
}
