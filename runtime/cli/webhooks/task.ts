/** What the commands that connect something share: the configuration's file, the steps, and how they report. */

import { isPluginError, oneLine } from '@reveille/kit'
import { PluginSetupError } from '../../plugin/index.ts'
import { StoreError } from '../../store/port.ts'
import { CommandFailure, storeFailure } from '../command-failure.ts'
import { configWords, findConfiguration, shownPath } from '../configuration.ts'
import { type CommandOptions, type Io, paintFor, wrapText } from '../io.ts'
import type { Prompts } from '../prompts.ts'
import { createSteps, type Steps } from './steps.ts'

export interface Task {
  /** Absolute. */
  readonly file: string
  /** The file as messages name it. */
  readonly shown: string
  readonly steps: Steps
  /** Absent: nothing is asked. */
  readonly prompts: Prompts | undefined
  /** Commands to be pasted name the file that was found. */
  readonly io: Io
}

export interface Done {
  /** The answer with `--json`, beside `ok`, the steps and the warnings. */
  readonly facts: Readonly<Record<string, unknown>>
  readonly lines: readonly string[]
  readonly exitCode?: number
}

/** `again` makes a sentence for errors of a step. @returns the exit code */
export async function perform(
  title: string,
  options: CommandOptions,
  given: Io,
  work: (task: Task) => Promise<Done>,
  again: (io: Io) => string = () => '',
): Promise<number> {
  const { json = false } = options
  const prompts = json ? undefined : await given.prompts?.()
  const steps = createSteps(given, prompts, json)
  let io = given
  try {
    const file = findConfiguration(options, given)
    const shown = shownPath(file, given)
    const { config: _config, ...rest } = given
    io = configWords(file, given) === '' ? rest : { ...given, config: shown }
    prompts?.begin(title)
    const { facts, lines, exitCode = 0 } = await work({ file, shown, steps, prompts, io })
    if (json) {
      const answer = { ok: exitCode === 0, ...facts, steps: steps.all, warnings: steps.warnings }
      io.out(`${JSON.stringify(answer, null, 2)}\n`)
    } else if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
    else {
      prompts.note(lines.join('\n'))
      prompts.end(exitCode === 0 ? paintFor(io).green('Done.') : 'Not finished.')
    }
    return exitCode
  } catch (error) {
    const { code, message, exitCode } = failureOf(error, again(io))
    if (json) io.out(`${JSON.stringify({ ok: false, code, message, steps: steps.all }, null, 2)}\n`)
    else io.err(`${prompts === undefined ? '' : '\n'}${wrapText(message, io)}\n`)
    return exitCode
  }
}

/** @throws an error of another kind, which is a fault of the program */
function failureOf(error: unknown, again: string) {
  if (error instanceof CommandFailure)
    return { code: 'failed', message: error.message, exitCode: error.exitCode }
  if (error instanceof StoreError)
    return { code: error.code, message: storeFailure(error).message, exitCode: 1 }
  if (error instanceof PluginSetupError) return { code: error.code, message: error.message, exitCode: 1 }
  if (!isPluginError(error)) throw error
  const { code, message } = error
  if (code === 'bad-option') return { code, message, exitCode: 2 }
  return { code, message: [message, again].filter(Boolean).join('\n'), exitCode: 1 }
}

/** An unexpected error of a plugin without its stack, which does not help the person at the terminal. */
export function unexpected(error: unknown): unknown {
  if (isPluginError(error) || error instanceof CommandFailure) return error
  const why = error instanceof Error ? error.message : String(error)
  return new CommandFailure(1, `It failed unexpectedly: ${oneLine(why, 300)}`, { cause: error })
}
