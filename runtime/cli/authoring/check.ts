/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import { findConfiguration, load, reportDiagnostics } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { counted } from '../print.ts'
import { withCompiled } from './compile.ts'

/** `withoutSecrets`: references that are not set are warnings only. */
export async function check(io: Io, options: CommandOptions): Promise<number> {
  const file = findConfiguration(io)
  const loaded = await load(io, { allowsUnset: options.withoutSecrets ?? false })
  return withCompiled(
    loaded,
    io,
    (compiled) => {
      const { ok } = compiled
      const diagnostics = ok ? compiled.warnings : compiled.diagnostics
      const mappings = ok ? compiled.snapshot.mappings.length : undefined
      const good = ` is good: ${counted(mappings ?? 0, 'mapping')}.`
      const code = reportDiagnostics({ ok, file, mappings, diagnostics }, good, io)
      if (!io.json && ok && mappings && !compiled.snapshot.settings.hooks.enabled)
        io.err('Hooks are off, and every request is answered 404. Write `enabled: true` under `hooks:`.\n')
      return code
    },
    { startsPlugins: true },
  )
}
