/** Shared parts of the commands that connect something: the configuration's file, the steps, and their report. */

import { type ConnectStep, isPluginError, oneLine, type SetupDescription } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { PluginSetupError } from '../../plugin/index.ts'
import { StoreError } from '../../store/port.ts'
import { CommandFailure, failure, storeFailure } from '../command-failure.ts'
import { configWords, findConfiguration, shownPath } from '../configuration.ts'
import { type Io, paintFor, wrapText } from '../io.ts'
import type { Prompts } from '../prompts.ts'

/** The options of a command and its argument, by the names that the plugin has for them. */
export type Given = Readonly<Record<string, unknown>>

export interface Connected {
  readonly name: string
  readonly setup: SetupDescription
}

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
  given: Io,
  work: (task: Task) => Promise<Done>,
  again: (io: Io) => string = () => '',
): Promise<number> {
  const { json = false } = given
  const prompts = json ? undefined : await given.prompts?.()
  const steps = createSteps(given, prompts, json)
  let io = given
  try {
    const file = findConfiguration(given)
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
  return failure(`It failed unexpectedly: ${oneLine(why, 300)}`, { cause: error })
}

type Steps = ReturnType<typeof createSteps>

const marks = { done: '✓', unchanged: '·', warning: '!' } as const

/** The length of the longest usual name. */
const nameWidth = 'configuration'.length
const gap = '  '
/** Minimum width of the column of details. */
const minRoom = 30
/** The columns of the bar of the questions, or of the mark, with the space after it. */
const margin = 3

/** Reports each step when it is done: a line on standard error, or between the questions. */
function createSteps(io: Io, prompts: Prompts | undefined, json: boolean) {
  const all: ConnectStep[] = []
  const warnings: string[] = []
  const paint = paintFor(io)
  const colours = { done: paint.green, unchanged: paint.dim, warning: paint.yellow }

  function show(kind: keyof typeof marks, lines: readonly string[]): void {
    const mark = colours[kind](marks[kind])
    if (prompts !== undefined) prompts.step(mark, lines.join('\n'))
    else if (!json) io.err(`${mark} ${lines.join('\n  ')}\n`)
  }

  function report(step: ConnectStep): void {
    all.push(step)
    const left = nameWidth + gap.length
    const room = Math.max(minRoom, (io.columns ?? Number.POSITIVE_INFINITY) - margin - left)
    const [first = '', ...more] = wrapWords(printable(step.detail), room)
    const soft = step.outcome === 'unchanged' ? paint.dim : (text: string) => text
    show(step.outcome, [
      `${soft(printable(step.step).padEnd(nameWidth))}${gap}${soft(first)}`,
      ...more.map((line) => `${' '.repeat(left)}${soft(line)}`),
    ])
  }

  return {
    all,
    warnings,
    report,
    /** Reports a step by whether it changed something. */
    settle(step: string, isDone: boolean, done: string, unchanged: string): void {
      report({ step, outcome: isDone ? 'done' : 'unchanged', detail: isDone ? done : unchanged })
    },
    /** Reports something that should be corrected and stops nothing. */
    warn(text: string): void {
      warnings.push(text)
      show('warning', wrapWords(printable(text), (io.columns ?? Number.POSITIVE_INFINITY) - margin))
    },
  }
}
