/** Runs the command line and makes its exit code. The code of a command is loaded when the command is run. */

import { nearestName } from '@reveille/engine'
import { Argument, type Command, CommanderError } from 'commander'
import { packageVersion } from '../package-folder.ts'
import { addAuthoringCommands } from './authoring/commands.ts'
import { CommandFailure } from './command-failure.ts'
import { CliCommand, type Run } from './command-parts.ts'
import { addDeliveryCommands } from './delivering/commands.ts'
import { addDoctorCommands } from './doctor/commands.ts'
import { type Io, processIo } from './io.ts'
import {
  addReloadCommands,
  addRunCommands,
  addStartingCommands,
  addStoreCommands,
} from './operating/commands.ts'
import { addReadingCommands } from './reading/commands.ts'
import { addConnectCommands, addWebhookCommands } from './webhooks/commands.ts'

const usageExit = 2

/** @returns the exit code: 0, 1 (found problems) or 2 (bad usage) */
export async function runCli(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const result = { exitCode: 0 }
  try {
    const program = createProgram(io, result)
    refuseUnknown(program, argv.slice(2))
    await program.parseAsync(withCommand(argv))
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit
    if (!(error instanceof CommandFailure)) throw error
    io.err(`${error.message}\n`)
    return error.exitCode
  }
  return result.exitCode
}

/** Without a command it is a first `start`: `reveille --yes`. The program itself has these options alone. */
function withCommand(argv: readonly string[]): readonly string[] {
  const first = argv[2]
  const isStart = first === undefined || (first.startsWith('-') && !/^(-h|--help|-V|--version)$/.test(first))
  return isStart ? [...argv.slice(0, 2), 'start', '--first', ...argv.slice(2)] : argv
}

/**
 * Commander answers `--help` behind a command that does not exist with the help of the one above it.
 *
 * @throws CommandFailure (bad usage), with the command of that name in another group, if there is one
 */
function refuseUnknown(program: Command, argv: readonly string[]): void {
  let command = program
  for (const word of argv[0] === 'help' ? argv.slice(1) : argv) {
    // A command with an action takes the word as an argument.
    if (word.startsWith('-') || command.commands.length === 0) return
    const next = command.commands.find((each) => each.name() === word)
    if (next === undefined && (command.registeredArguments.length > 0 || word === 'help')) return
    if (next === undefined) throw new CommandFailure(usageExit, unknownText(program, command, word))
    command = next
  }
}

function unknownText(program: Command, group: Command, word: string): string {
  const elsewhere = pathsOf(program).find((path) => path.at(-1) === word)
  const near = nearestName(
    word,
    group.commands.map((command) => command.name()),
  )
  const meant = elsewhere?.join(' ') ?? near
  return [
    `error: unknown command '${word}'`,
    ...(meant === undefined ? [] : [`(Did you mean ${meant}?)`]),
    '(--help says more)',
  ].join('\n')
}

/** The names of every command, each behind those of its groups. */
function pathsOf(command: Command): readonly (readonly string[])[] {
  return command.commands.flatMap((each) => [
    [each.name()],
    ...pathsOf(each).map((path) => [each.name(), ...path]),
  ])
}

/** Registers every command. Tests compare the reference page with it. */
export function createProgram(io: Io, result: { exitCode: number }): Command {
  const own: Io & { config?: string } = { ...io }
  const program = new CliCommand('reveille')
    .description(
      'The webhook gateway that wakes AI agents and can prove what happened.\n\nWithout a command it starts the gateway, with a first configuration if there is none here.',
    )
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('(--help says more)')
    .version(packageVersion(), '-V, --version', 'print the version')
    .hook('preAction', (_program, command) => {
      const { config } = command.opts<{ readonly config?: string }>()
      if (config !== undefined) own.config = config
    })

  const run: Run =
    (load) =>
    async (...given) => {
      const command = given.at(-1) as Command
      const perform = (await load()) as (...given: unknown[]) => Promise<number>
      result.exitCode = await perform(...given.slice(0, -2), command.optsWithGlobals(), own)
    }
  // The help lists the commands in this order.
  const init = addStartingCommands(program, run)
  addAuthoringCommands(program, init, run)
  addReloadCommands(program, run)
  addReadingCommands(program, run)
  addRunCommands(program, run)
  addDeliveryCommands(program, run)
  addConnectCommands(program, run)
  addWebhookCommands(program, run)
  addStoreCommands(program, run)
  addDoctorCommands(program, run)
  program
    .command('docs')
    .description('list the pages that come with this version, or print one')
    .argument('[page]', 'its name; `skill` is the page for coding agents')
    .option('--json', 'answer as JSON: {pages}, or {name, title, file, text}')
    .examples('reveille docs', 'reveille docs mappings', 'reveille docs reference/http')
    .action(run(async () => (await import('./docs.ts')).docs))
  program
    .command('completion')
    .description('print what completes the commands in a shell; it says where to put it')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .option('--json', 'answer as JSON: {shell, script}')
    .examples('reveille completion bash >> ~/.bashrc', 'reveille completion fish')
    .action(run(async () => (await import('./completion.ts')).completionOf(program)))
  return program
}
