/** `reveille check`: loads and compiles the configuration as the gateway does, and starts nothing. */

import { CommandFailure } from '../command-failure.ts'
import { contentFolders, findConfiguration, formatDiagnostics, load, shownPath } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { counted } from '../print.ts'
import { errorsOf } from '../records/generations.ts'
import { type Compiled, withCompiled } from './compile.ts'

export async function check(
  options: CommandOptions & {
    /** An option of earlier versions. */
    readonly types?: boolean
    /** Whether references that are not set are warnings only. */
    readonly withoutSecrets?: boolean
  },
  io: Io,
): Promise<number> {
  const file = findConfiguration(options, io)
  if (options.types) await refuseTypes(file, io)
  const loaded = await load({ ...options, allowsUnset: options.withoutSecrets ?? false }, io)
  return withCompiled(loaded, io, (compiled) => report(compiled, file, options, io), { startsPlugins: true })
}

async function refuseTypes(file: string, io: Io): Promise<never> {
  const { transformsDir } = await contentFolders(file, io)
  const folder = shownPath(transformsDir, io)
  throw new CommandFailure(
    2,
    `${folder}: --types is gone; the TypeScript compiler checks the folder itself. Run: npx tsc -p ${shellWord(folder)}\n` +
      `\`${programName(io)} init transform NAME\` writes the tsconfig.json that this needs, also beside a transform that is there.`,
  )
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
