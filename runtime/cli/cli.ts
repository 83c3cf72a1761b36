/** Runs the command line and makes its exit code. */

import { nearestName } from '@reveille/engine/text'
import { Argument, Command, CommanderError } from 'commander'
import { packageVersion } from '../package-folder.ts'
import { badUsage, CommandFailure } from './command-failure.ts'
import {
  type CommandRow,
  type CommandRows,
  configOption,
  groups,
  type Run,
  reachHelp,
} from './command-parts.ts'
import { commands } from './commands.ts'
import { candidates } from './completion.ts'
import { type Io, processIo } from './io.ts'

const usageExit = 2

/** @returns the exit code: 0, 1 (found problems) or 2 (bad usage) */
export async function runCli(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const result = { exitCode: 0 }
  try {
    const words = argv.slice(2)
    const program = createProgram(io, result, await connectRows(words, io, commands({})))
    if (words[0] === '__complete') {
      io.out(candidates(program, words.slice(1)))
      return 0
    }
    refuseUnknown(program, words)
    await program.parseAsync(withCommand(argv))
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit
    if (!(error instanceof CommandFailure)) throw error
    io.err(`${error.message}\n`)
    return error.exitCode
  }
  return result.exitCode
}

/**
 * Rows of `connect`, `disconnect` and `webhooks`. Packages describe the commands below them, and are read only where the command line may
 * name one. @throws CommandFailure
 */
async function connectRows(words: readonly string[], io: Io, known: CommandRows): Promise<CommandRows> {
  const [first, second] = words
  const verb = first === 'help' ? second : first === '__complete' ? words.slice(1, -1)[0] : first
  if (verb === undefined || verb.startsWith('-') || Object.hasOwn(known, verb)) return { ...groups }
  const { ownRows, setupRows } = await import('./webhooks/commands.ts')
  return { ...setupRows(), ...(await ownRows(words, io)) }
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
    if (next === undefined) throw badUsage(unknownText(program, command, word))
    command = next
  }
}

function unknownText(program: Command, group: Command, word: string): string {
  const names = group.commands.map((command) => command.name())
  const meant =
    pathsOf(program)
      .find((path) => path.at(-1) === word)
      ?.join(' ') ?? nearestName(word, names)
  const guess = meant === undefined ? '' : `\n(Did you mean ${meant}?)`
  return `error: unknown command '${word}'${guess}\n(--help says more)`
}

/** The names of every command, each behind those of its groups. */
function pathsOf(command: Command): readonly (readonly string[])[] {
  return command.commands.flatMap((each) => [
    [each.name()],
    ...pathsOf(each).map((path) => [each.name(), ...path]),
  ])
}

/** Registers every command. `connecting`: those that connect. Tests compare the reference page with it. */
export function createProgram(io: Io, result: { exitCode: number }, connecting: CommandRows): Command {
  const program = new Command('reveille')
    .description(
      'The webhook gateway that wakes AI agents and can prove what happened.\n\nWithout a command it starts the gateway, with a first configuration if there is none here.',
    )
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('(--help says more)')
    .version(packageVersion(), '-V, --version', 'print the version')

  const run: Run =
    (load) =>
    async (...given) => {
      const command = given.at(-1) as Command
      const perform = (await load()) as (...given: unknown[]) => Promise<number>
      const { config, json, ...options } = command.optsWithGlobals()
      const own = { ...io, ...(config !== undefined && { config }), json }
      result.exitCode = await perform(...given.slice(0, -2), own, options)
    }
  for (const [name, row] of Object.entries(commands(connecting))) addCommand(program, name, row, run)
  return program
}

function addCommand(program: Command, path: string, row: CommandRow, run: Run): void {
  const { about, args = [], config = configOption, options = [], json = 'answer as JSON', examples } = row
  const words = path.split(' ')
  const name = words.pop() as string
  const group = words.reduce<Command>(
    (above, word) => above.commands.find((each) => each.name() === word) as Command,
    program,
  )
  const command = group.command(name).description(about)
  for (const [argument, about, accepts] of args) {
    const made = new Argument(argument, about)
    if (typeof accepts === 'function') made.argParser(accepts)
    else if (accepts !== undefined) made.choices(accepts)
    command.addArgument(made)
  }
  for (const option of [...(config ? [config] : []), ...options]) command.addOption(option)
  if (json !== false) command.option('--json', json)
  const lines = examples.map((line) => `  ${line}`).join('\n')
  const help = [row.help, row.gateway && reachHelp, lines && `\nExamples:\n${lines}`]
  command.addHelpText('after', help.filter(Boolean).join('\n'))
  if (row.run !== undefined) command.action(run(row.run))
}
