/** Compiles a configuration into a snapshot as the gateway would, and starts nothing but its transforms. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildCandidate,
  CandidateError,
  type Configuration,
  compileSnapshot,
  type Diagnostic,
  type Loaded,
  type Randomness,
  type Snapshot,
  type TransformEvent,
} from '@reveille/engine'
import {
  checkAddresses,
  checkPlugins,
  diagnosticsOf,
  examinePlugins,
  PluginSetupError,
} from '../../plugin/index.ts'
import { createRandomIds } from '../../random-id.ts'
import { createIdMinter } from '../../store/id.ts'
import { type HostedTransforms, hostTransforms } from '../../transforms.ts'
import { CommandFailure } from '../command-failure.ts'
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
async function compile(loaded: Loaded, io: Io, { asksPlugins = false } = {}): Promise<Compiled> {
  const randomness: Randomness = { mint: createIdMinter(io.now), randomId: createRandomIds() }
  const transforms = createLateTransforms(io)
  let watched: readonly string[] = []
  const built = await buildCandidate(
    {
      load: async () => loaded,
      bundle: async (...wanted) => (await transforms.start()).bundle(...wanted),
      openTransforms: (modules, secrets) => transforms.started().openTransforms(modules, secrets),
      compile: (configuration, bound) =>
        withPlaces(configuration, async () => {
          const catalog = checkPlugins(configuration.settings)
          const addresses = asksPlugins ? await examinePlugins(configuration.settings) : undefined
          const wrong = addresses === undefined ? [] : checkAddresses(configuration, addresses)
          const compiled = compileSnapshot(configuration, catalog, randomness, bound)
          if (wrong.length === 0) return compiled
          return { ok: false, diagnostics: compiled.ok ? wrong : [...compiled.diagnostics, ...wrong] }
        }),
    },
    {
      isDryRun: true,
      isSuperseded: () => false,
      onWatched: (paths) => {
        watched = paths
      },
    },
  )
  if (built.outcome === 'ready') {
    const { source, snapshot, warnings } = built.candidate
    const configuration = { ...source.configuration, watched }
    return { ok: true, configuration, snapshot, warnings, close: transforms.close }
  }
  await transforms.close()
  return { ok: false, diagnostics: built.outcome === 'rejected' ? built.diagnostics : [], watched }
}

/** Returns what `use` makes of the snapshot or the errors. `asksPlugins`: plugins check their own settings too. */
export async function withCompiled<Result>(
  loaded: Loaded,
  io: Io,
  use: (compiled: Compiled) => Result | Promise<Result>,
  options: { readonly asksPlugins?: boolean } = {},
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
  options: { readonly config?: string },
  io: Io,
  use: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return withCompiled(await load({ ...options, allowsUnset: true }, io), io, (compiled) => {
    if (compiled.ok) {
      reportUnset(compiled.configuration, io)
      return use(compiled.snapshot)
    }
    throw new CommandFailure(1, formatDiagnostics(compiled.diagnostics, io))
  })
}

async function withPlaces<Result>(
  configuration: Configuration,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    throw new CandidateError(diagnosticsOf(error, configuration), { cause: error })
  }
}

/**
 * The first module starts them. Bundles go to a folder of their own that is deleted in the end: the user who checks a
 * configuration may not be the one that the gateway runs as.
 */
function createLateTransforms(io: Io) {
  let folder: string | undefined
  let hosted: HostedTransforms | undefined
  return {
    async start() {
      folder ??= await mkdtemp(join(tmpdir(), 'reveille-'))
      hosted ??= hostTransforms({ folder, onEvent: (event) => reportOutput(event, io) })
      return hosted.parts
    },
    started() {
      if (hosted === undefined) throw new Error('Modules are bundled before they are opened.')
      return hosted.parts
    },
    async close() {
      await hosted?.close()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

function reportOutput(event: TransformEvent, io: Io): void {
  if (event.type === 'transform-output') io.err(`${event.module}: ${event.text}\n`)
}
