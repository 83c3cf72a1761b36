/** What the registrations of commands share: how an action is run, and the options and help that recur. */

import { InvalidArgumentError, Option } from 'commander'
import type { Io } from './io.ts'

/** What the actions of all commands are given. */
export interface CommandContext {
  readonly io: Io
  /** Waits for an action and keeps its exit code. */
  finish(code: Promise<number>): Promise<void>
}

export const reachHelp = `
The gateway's address and token come from --config, else from REVEILLE_URL and
REVEILLE_GATEWAY_TOKEN, else from the configuration that is found.`

export function configOption(): Option {
  return new Option(
    '--config <file>',
    'the configuration, or its folder (default: REVEILLE_CONFIG, else ./reveille.yaml, else ./local/reveille.yaml)',
  )
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

/** Returns a parser of a whole number from 1 to `most`. */
export function parseLimit(most: number): (text: string) => string {
  return (text) => {
    if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return text
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
  }
}
