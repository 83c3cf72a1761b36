/** Shared parts of the commands' registrations: running an action, and the options and help that recur. */

import { InvalidArgumentError, Option } from 'commander'

/**
 * Returns the action of a command: it loads the command's function, calls it with the arguments, the options (those of the
 * commands above too, which may have taken a value) and `io`, and keeps the exit code that the function resolves with.
 */
export type Run = (
  load: () => Promise<(...given: never[]) => Promise<number>>,
) => (...given: unknown[]) => Promise<void>

/** Commands by the words that name each, a group before those in it. */
export type CommandRows = Readonly<Record<string, CommandRow>>

export interface CommandRow {
  readonly about: string
  /** Each argument as `<needed>`, `[optional]` or `[several...]`, with what it says. */
  readonly args?: readonly (readonly [
    name: string,
    about: string,
    accepts?: readonly string[] | ((text: string) => unknown),
  ])[]
  /** The option `--config`, where it is another one; false where there is none. */
  readonly config?: Option | false
  readonly options?: readonly Option[]
  /** It asks a running gateway, whose address and token come from the configuration. */
  readonly gateway?: true
  /** Help of `--json`; false where there is no such option. Default: `answer as JSON`. */
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

/** The help of commands that ask a gateway. */
export const reachHelp = `
The gateway's address and token come from --config, else from REVEILLE_URL and
REVEILLE_GATEWAY_TOKEN, else from the configuration that is found.`

export const configOption = option(
  '--config <file>',
  'the configuration, or its folder (default: REVEILLE_CONFIG, else ./reveille.yaml, else ./local/reveille.yaml)',
)

/** Returns a parser of a whole number. `what`: says what is counted. */
export function whole(min: number, max: number, what = 'whole number'): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`It must be a ${what} from ${min} to ${max}.`)
  }
}

/** A command whose names are those of plugins, some of which only the configuration knows. */
function groupRow(about: string): CommandRow {
  const help = "\nNAME is that of a plugin's own source or provider, whose options its page lists."
  return { about, args: [['[name...]', '']], json: false, help, examples: [] }
}

/** The groups of commands that connect sources and providers, without the commands that packages describe. */
export const groups = {
  connect: groupRow('register a webhook at a provider, and write what the gateway needs for it'),
  disconnect: groupRow('remove a webhook that connect has registered'),
  webhooks: groupRow('connect services that have to be asked for their events'),
}
