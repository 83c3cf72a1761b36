/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import { findConfiguration, formatDiagnostics, load, shownPath } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted } from '../print.ts'
import { errorsOf } from '../records/generations.ts'
import { type Compiled, withCompiled } from './compile.ts'

export async function check(
  options: CommandOptions & {
    /** Whether references that are not set are warnings only. */
    readonly withoutSecrets?: boolean
  },
  io: Io,
): Promise<number> {
  const file = findConfiguration(options, io)
  const loaded = await load({ ...options, allowsUnset: options.withoutSecrets ?? false }, io)
  return withCompiled(loaded, io, (compiled) => report(compiled, file, options, io), { startsPlugins: true })
}

function report(compiled: Compiled, file: string, options: { readonly json?: boolean }, io: Io): number {
  const { ok } = compiled
  const diagnostics = ok ? compiled.warnings : compiled.diagnostics
  const mappings = ok ? compiled.snapshot.mappings.length : undefined
  if (options.json) io.out(`${JSON.stringify({ ok, file, mappings, diagnostics }, null, 2)}\n`)
  else {
    if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
    if (mappings !== undefined) io.out(`${shownPath(file, io)} is good: ${counted(mappings, 'mapping')}.\n`)
    else io.err(`${shownPath(file, io)}: ${errorsOf({ diagnostics })}.\n`)
    if (ok && !compiled.snapshot.settings.hooks.enabled && compiled.snapshot.mappings.length > 0)
      io.err('Hooks are off, and every request is answered 404. Write `enabled: true` under `hooks:`.\n')
  }
  return ok ? 0 : 1
}
