/** Runs `connect NAME`, `disconnect NAME` and `webhooks NAME setup | run` of plugins that the configuration brings. */

import { CommanderError } from 'commander'
import { PluginSetupError, setupOf } from '../../plugin/index.ts'
import { CommandFailure } from '../command-failure.ts'
import { CliCommand, type Run } from '../command-parts.ts'
import { formatDiagnostics, load } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { describeConnect, describeDisconnect, describeSource } from './described-commands.ts'
import type { Connected } from './task.ts'

/** `words` begin with the names of the command. @returns the exit code */
export async function runOwn(words: readonly string[], options: CommandOptions, io: Io): Promise<number> {
  const [verb = '', name, ...rest] = words
  if (name === undefined || name.startsWith('-'))
    throw new CommandFailure(2, `Name what to ${verb}: reveille ${verb} NAME (--help says more)`)
  const result = { exitCode: 2 }
  const run: Run =
    (load) =>
    async (...given) => {
      const perform = (await load()) as (...given: unknown[]) => Promise<number>
      result.exitCode = await perform(...given.slice(0, -2), { ...options, ...(given.at(-2) as object) }, io)
    }
  const step = verb === 'webhooks' ? rest.shift() : undefined
  const command = new CliCommand(['reveille', verb, name, step].filter(Boolean).join(' '))
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('(--help says more)')
  const { kind, setup } = await findSetup(verb, name, options, io)
  const connected: Connected = { name, setup }
  if (kind === 'source') describeSource(command, connected, step === 'run' ? 'run' : 'setup', run)
  else if (verb === 'connect') describeConnect(command, connected, run)
  else describeDisconnect(command, connected, run)
  try {
    await command.parseAsync(rest, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
  return result.exitCode
}

/** @throws CommandFailure where the configuration does not load, or no plugin has the name */
async function findSetup(verb: string, name: string, options: CommandOptions, io: Io) {
  const loaded = await load({ ...options, allowsUnset: true }, io)
  if (!loaded.ok) throw new CommandFailure(1, formatDiagnostics(loaded.diagnostics, io))
  const { settings } = loaded.configuration
  const kinds = { connect: ['provider', 'source'], disconnect: ['provider'], webhooks: ['source'] } as const
  let why: unknown
  for (const kind of kinds[verb as keyof typeof kinds]) {
    try {
      return { kind, setup: setupOf(kind, name, settings) }
    } catch (error) {
      if (!(error instanceof PluginSetupError)) throw error
      why = new CommandFailure(error.code === 'PLUGIN_MISSING' ? 2 : 1, error.message, { cause: error })
    }
  }
  throw why
}
