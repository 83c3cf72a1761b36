/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import type { Diagnostic } from '@reveille/engine'
import { findConfiguration, formatDiagnostics, load, shownPath } from '../configuration.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { compile } from './compile.ts'

export async function check(
  options: { readonly config?: string; readonly json?: boolean },
  io: Io,
): Promise<number> {
  const file = findConfiguration(options, io)
  const compiled = compile(await load(options, io), io)
  const { ok } = compiled
  const diagnostics = ok ? compiled.warnings : compiled.diagnostics
  const mappings = ok ? compiled.snapshot.mappings.length : undefined
  if (options.json) io.out(`${JSON.stringify({ ok, file, mappings, diagnostics }, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    if (mappings !== undefined) io.out(`${shownPath(file, io)} is good: ${counted(mappings, 'mapping')}.\n`)
    else io.err(`${shownPath(file, io)}: ${counted(diagnostics.filter(isError).length, 'error')}.\n`)
  }
  return ok ? 0 : 1
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}
