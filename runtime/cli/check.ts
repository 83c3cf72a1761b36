/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import { compileSnapshot, type Diagnostic, loadConfiguration, type Randomness } from '@reveille/engine'
import { checkPlugins, diagnosticsOf, PluginSetupError } from '../plugin/index.ts'
import { findConfiguration, formatDiagnostics, shownPath } from './configuration.ts'
import type { Io } from './io.ts'

interface Findings {
  readonly diagnostics: readonly Diagnostic[]
  /** Absent when something is wrong. */
  readonly mappings?: number
}

export async function check(
  options: { readonly config?: string; readonly json?: boolean },
  io: Io,
): Promise<number> {
  const file = findConfiguration(options, io)
  const { diagnostics, mappings } = await findingsOf(file, io)
  const ok = mappings !== undefined
  if (options.json) io.out(`${JSON.stringify({ ok, file, mappings, diagnostics }, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    if (ok) io.out(`${shownPath(file, io)} is good: ${counted(mappings, 'mapping')}.\n`)
    else io.err(`${shownPath(file, io)}: ${counted(diagnostics.filter(isError).length, 'error')}.\n`)
  }
  return ok ? 0 : 1
}

async function findingsOf(file: string, io: Io): Promise<Findings> {
  const loaded = await loadConfiguration({ file, env: io.env })
  if (!loaded.ok) return loaded
  const { configuration } = loaded
  try {
    const compiled = compileSnapshot(configuration, checkPlugins(configuration.settings), unused)
    if (!compiled.ok) return compiled
    return { diagnostics: compiled.warnings, mappings: compiled.snapshot.mappings.length }
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    return { diagnostics: diagnosticsOf(error, configuration) }
  }
}

/** A check admits no request, so nothing is minted. */
const unused: Randomness = { mint: () => '', randomId: () => '' }

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
