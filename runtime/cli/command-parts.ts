/** What the registrations of commands share: how an action is run, and the options and help that recur. */

import { Command, InvalidArgumentError, Option } from 'commander'

/**
 * Returns the action of a command: it loads the command's function, calls it with the arguments, the options (those of the
 * commands above too, which may have taken a value) and `io`, and keeps the exit code that the function resolves with.
 */
export type Run = (
  load: () => Promise<(...given: never[]) => Promise<number>>,
) => (...given: unknown[]) => Promise<void>

export interface CommandRow {
  /** The words that name it. */
  readonly name: string
  readonly about: string
  /** Each argument as `<needed>`, `[optional]` or `[several...]`, with what it says. */
  readonly args?: readonly (readonly [
    name: string,
    about: string,
    accepts?: readonly string[] | ((text: string) => unknown),
  ])[]
  readonly options?: readonly Option[]
  /** It asks a running gateway, whose address and token come from the configuration. */
  readonly gateway?: true
  /** What `--json` says; false where there is no such option. Default: `answer as JSON`. */
  readonly json?: string | false
  readonly help?: string
  readonly examples: readonly string[]
  /** Loads the function of the command, which takes the arguments, the options and `io`. Absent: a group of commands. */
  run?(): Promise<(...given: never[]) => Promise<number>>
}

export function option(
  flags: string,
  about: string,
  parse?: ((text: string, earlier: never) => unknown) | readonly string[] | 'hidden',
  fallback?: unknown,
): Option {
  const made = new Option(flags, about)
  if (parse === 'hidden') made.hideHelp()
  else if (typeof parse === 'function') made.argParser(parse as never)
  else if (parse !== undefined) made.choices(parse as string[])
  return fallback === undefined ? made : made.default(fallback)
}

const reachHelp = `
The gateway's address and token come from --config, else from REVEILLE_URL and
REVEILLE_GATEWAY_TOKEN, else from the configuration that is found.`

/** A command whose help ends with lines to copy. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }

  /** The command asks a running gateway. */
  gatewayExamples(...lines: readonly string[]): this {
    return this.addHelpText('after', reachHelp).examples(...lines)
  }
}

export function configOption(): Option {
  return new Option(
    '--config <file>',
    'the configuration, or its folder (default: REVEILLE_CONFIG, else ./reveille.yaml, else ./local/reveille.yaml)',
  )
}

/** Returns a parser of a whole number. `what`: says what is counted. */
export function whole(min: number, max: number, what = 'whole number'): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`It must be a ${what} from ${min} to ${max}.`)
  }
}
