/** Owns compiling a configuration as the gateway would, with nothing started. */

import {
  type Configuration,
  compileSnapshot,
  type Diagnostic,
  type Loaded,
  type Randomness,
  type Snapshot,
} from '@reveille/engine'
import { checkPlugins, diagnosticsOf, PluginSetupError } from '../../plugin/index.ts'
import { createRandomIds } from '../../random-id.ts'
import { createIdMinter } from '../../store/id.ts'
import { CommandFailure } from '../command-failure.ts'
import { formatDiagnostics, load } from '../configuration.ts'
import type { Io } from '../io.ts'

export type Compiled =
  | {
      readonly ok: true
      readonly configuration: Configuration
      readonly snapshot: Snapshot
      readonly warnings: readonly Diagnostic[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

export function compile(loaded: Loaded, io: Io): Compiled {
  if (!loaded.ok) return loaded
  const { configuration } = loaded
  const randomness: Randomness = { mint: createIdMinter(io.now), randomId: createRandomIds() }
  try {
    const compiled = compileSnapshot(configuration, checkPlugins(configuration.settings), randomness)
    return compiled.ok ? { ...compiled, configuration } : compiled
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    return { ok: false, diagnostics: diagnosticsOf(error, configuration) }
  }
}

/** @throws CommandFailure with the diagnostics */
export async function compileOrFail(
  options: { readonly config?: string },
  io: Io,
): Promise<Extract<Compiled, { ok: true }>> {
  const compiled = compile(await load(options, io), io)
  if (compiled.ok) return compiled
  throw new CommandFailure(1, formatDiagnostics(compiled.diagnostics, io))
}
