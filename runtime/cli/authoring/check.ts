/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing; types if asked to. */

import type { Configuration, Diagnostic } from '@reveille/engine'
import { findConfiguration, formatDiagnostics, load, shownPath } from '../configuration.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { type Compiled, withCompiled } from './compile.ts'

export async function check(
  options: {
    readonly config?: string
    readonly json?: boolean
    readonly types?: boolean
    /** Whether references that are not set are warnings only. */
    readonly withoutSecrets?: boolean
  },
  io: Io,
): Promise<number> {
  const file = findConfiguration(options, io)
  const loaded = await load({ ...options, allowsUnset: options.withoutSecrets ?? false }, io)
  const types = options.types && loaded.ok ? await typeDiagnostics(loaded.configuration) : []
  return withCompiled(loaded, io, (compiled) => report(compiled, types, file, options, io), {
    asksPlugins: true,
  })
}

async function typeDiagnostics(configuration: Configuration): Promise<readonly Diagnostic[]> {
  const { checkTypes } = await import('./types/check-types.ts')
  return checkTypes(configuration)
}

function report(
  compiled: Compiled,
  types: readonly Diagnostic[],
  file: string,
  options: { readonly json?: boolean; readonly types?: boolean },
  io: Io,
): number {
  const ok = compiled.ok && !types.some(isError)
  const diagnostics = [...(compiled.ok ? compiled.warnings : compiled.diagnostics), ...types]
  const mappings = ok && compiled.ok ? compiled.snapshot.mappings.length : undefined
  if (options.json) io.out(`${JSON.stringify({ ok, file, mappings, diagnostics }, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    const typed = options.types ? ', and the types of its transforms' : ''
    if (mappings !== undefined)
      io.out(`${shownPath(file, io)} is good: ${counted(mappings, 'mapping')}${typed}.\n`)
    if (compiled.ok && !compiled.snapshot.settings.hooks.enabled && compiled.snapshot.mappings.length > 0)
      io.err('Hooks are off, and every request is answered 404. Write `enabled: true` under `hooks:`.\n')
    if (mappings === undefined)
      io.err(`${shownPath(file, io)}: ${counted(diagnostics.filter(isError).length, 'error')}.\n`)
  }
  return ok ? 0 : 1
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}
