/** Describes the commands of one source or provider, as its package does, and runs them. */

import path from 'node:path'
import type { CommandDescription, OptionDescription } from '@reveille/kit'
import { InvalidArgumentError, Option } from 'commander'
import { type CliCommand, configOption, type Run, whole } from '../command-parts.ts'
import type { Io } from '../io.ts'
import type { Connected, Given } from './task.ts'

/** `connect NAME` of a provider. */
export function describeConnect(command: CliCommand, connected: Connected, run: Run): void {
  const { name, setup } = connected
  describe(command, setup.connect)
    .option('--url <url>', 'where the internet reaches the gateway (default: its tunnel)')
    .option('--events <names>', 'separated by commas (default: those that mappings ask for)', parseNames)
    .option('--endpoint <name>', `of the gateway (default: ${name})`)
    .option('--no-catch-up', 'do not ask for what was missed, and keep no token')
    .option('--dry-run', 'say what would be done, and do nothing')
    .addOption(configOption())
    .option('--json', 'answer as JSON, and ask nothing')
  if (setup.howToTry === undefined)
    command.option(
      '--wait <seconds>',
      'how long the ping is waited for (default: 30; 0: not at all)',
      whole(0, 600),
    )
  finish(command, setup.connect).action(
    run(async () => {
      const { connectProvider } = await import('./connect.ts')
      return withOptions(setup.connect, (options, io) => connectProvider(connected, options, io))
    }),
  )
}

/** `disconnect NAME` of a provider. */
export function describeDisconnect(command: CliCommand, connected: Connected, run: Run): void {
  const { name, setup } = connected
  const description = setup.other ?? setup.connect
  describe(command, description)
    .option('--url <url>', 'where a webhook sends that the configuration does not name')
    .option('--endpoint <name>', `of the gateway (default: ${name})`)
    .option('--dry-run', 'say what would be done, and do nothing')
    .addOption(configOption())
    .option('--json', 'answer as JSON, and ask nothing')
  finish(command, description).action(
    run(async () => {
      const { disconnectProvider } = await import('./disconnect.ts')
      return withOptions(description, (options, io) => disconnectProvider(connected, options, io))
    }),
  )
}

/** `webhooks NAME setup`, or `run`, of a source. */
export function describeSource(
  command: CliCommand,
  connected: Connected,
  step: 'setup' | 'run',
  run: Run,
): void {
  const { setup } = connected
  const isRun = step === 'run'
  const description = isRun
    ? (setup.other ?? { description: 'run the source in this process, and post to a gateway', examples: [] })
    : setup.connect
  describe(command, description)
  if (!isRun) command.option('--no-browser', 'only show the address of the consent')
  command
    .addOption(configOption())
    .option('--json', isRun ? 'report its state as JSON lines' : 'answer as JSON, and ask nothing')
  finish(command, description).action(
    run(async () => {
      const perform = isRun
        ? (await import('./run-source.ts')).runSource
        : (await import('./connect-source.ts')).connectSource
      return withOptions(description, (options, io) => perform(connected, options, io))
    }),
  )
}

function describe(
  command: CliCommand,
  { description, argument, options = [] }: CommandDescription,
): CliCommand {
  command.description(description)
  if (argument !== undefined) command.argument(argument.flags, argument.description)
  for (const each of options) command.addOption(optionOf(each))
  return command
}

function finish(command: CliCommand, { help, examples }: CommandDescription): CliCommand {
  if (help !== undefined) command.addHelpText('after', help)
  return examples.length === 0 ? command : command.examples(...examples)
}

function optionOf({ flags, description, choices, range, pattern, problem }: OptionDescription): Option {
  const option = new Option(flags, description)
  if (choices !== undefined) option.choices(choices)
  if (range !== undefined) option.argParser(whole(...range))
  if (pattern !== undefined)
    option.argParser((value) => {
      if (new RegExp(pattern).test(value)) return value
      throw new InvalidArgumentError(problem ?? `It must match ${pattern}.`)
    })
  return option
}

/** Calls `perform` with the options and the argument under the names that the plugin has for them. */
function withOptions(
  { argument, options = [] }: CommandDescription,
  perform: (options: Given, io: Io) => Promise<number>,
): (...given: never[]) => Promise<number> {
  return async (...given: unknown[]) => {
    const [values, io] = given.slice(-2) as [Given, Io]
    const name = argument?.flags.replace(/[^\w-]/g, '') ?? ''
    const all: Record<string, unknown> = { ...values, ...(argument && { [name]: given[0] }) }
    for (const { flags, key, isPath } of options) {
      const attribute = new Option(flags).attributeName()
      if (all[attribute] === undefined) continue
      if (isPath) all[attribute] = path.resolve(io.cwd, String(all[attribute]))
      if (key !== undefined) all[key] = all[attribute]
      if (key !== undefined && key !== attribute) delete all[attribute]
    }
    return perform(all, io)
  }
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => /^(\*|[a-z][a-z0-9_.]*)$/.test(name))) return names
  throw new InvalidArgumentError('They must be names such as push,pull_request.')
}
