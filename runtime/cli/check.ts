/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import {
  type Catalog,
  type Configuration,
  compileSnapshot,
  type Diagnostic,
  loadConfiguration,
  type Randomness,
  type Settings,
} from '@reveille/engine'
import { createConfigurationParser } from '../plugin/configuration.ts'
import { createDirectory } from '../plugin/directory.ts'
import { type PluginProblem, PluginSetupError } from '../plugin/index.ts'
import { specify } from '../plugin/specify.ts'
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
    return { diagnostics: error.problems.map((problem) => diagnosticOf(problem, error.code, configuration)) }
  }
}

/**
 * Holds each plugin's part of the configuration against the schema that the plugin ships; runs none of its code.
 *
 * @returns the names that mappings may use
 * @throws PluginSetupError
 */
function checkPlugins(settings: Settings): Catalog {
  const directory = createDirectory(settings.plugins, new URL(import.meta.url))
  const parse = createConfigurationParser()
  for (const { package: found, key, given } of specify(settings, directory)) parse(found, key, given)
  return directory
}

function diagnosticOf(problem: PluginProblem, code: string, configuration: Configuration): Diagnostic {
  const { key, message, hint } = problem
  const place = configuration.locate(key.split(/[.[\]]+/).filter(Boolean))
  return { severity: 'error', code, message: `${key} ${message}`, place, hint }
}

/** A check admits no request, so nothing is minted. */
const unused: Randomness = { mint: () => '', randomId: () => '' }

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
