/** Shared parts of the commands that connect something: the configuration's file, the steps, and their report. */

import { type ConnectStep, isPluginError, oneLine, type SetupDescription } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import { PluginSetupError } from '../../plugin/index.ts'
import { StoreError } from '../../store/port.ts'
import { CommandFailure, failure, storeFailure } from '../command-failure.ts'
import { findConfiguration, shownPath } from '../configuration.ts'
import { type Io, paintFor } from '../io.ts'
import { print } from '../print.ts'
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

/** `again` is a sentence for errors of a step. @returns the exit code */
export async function perform(
  title: string,
  io: Io,
  work: (task: Task) => Promise<Done>,
  again = '',
): Promise<number> {
  const { json = false } = io
  const prompts = json ? undefined : await io.prompts?.()
  const steps = createSteps(io, prompts, json)
  try {
    const file = findConfiguration(io)
    const shown = shownPath(file, io)
    prompts?.begin(title)
    const { facts, lines, exitCode = 0 } = await work({ file, shown, steps, prompts, io })
    if (json) print(io, { ok: exitCode === 0, ...facts, steps: steps.all, warnings: steps.warnings })
    else if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
    else {
      prompts.note(lines.join('\n'))
      prompts.end(exitCode === 0 ? paintFor(io).green('Done.') : 'Not finished.')
    }
    return exitCode
  } catch (error) {
    const { code, message, exitCode } = failureOf(error, again)
    if (json) print(io, { ok: false, code, message, steps: steps.all })
    else io.err(`${prompts === undefined ? '' : '\n'}${message}\n`)
    return exitCode
  }
}

/** @throws an error of another kind, which is a fault of the program */
function failureOf(error: unknown, again: string) {
  if (error instanceof CommandFailure)
    return { code: 'failed', message: error.message, exitCode: error.exitCode }
  if (error instanceof StoreError)
    return { code: error.code, message: storeFailure(error).message, exitCode: 1 }
  if (error instanceof PluginSetupError) {
    const { code, message } = error
    return { code, message, exitCode: code === 'PLUGIN_MISSING' ? 2 : 1 }
  }
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
/** Reports each step when it is done: a line on standard error, or between the questions. */
function createSteps(io: Io, prompts: Prompts | undefined, json: boolean) {
  const all: ConnectStep[] = []
  const warnings: string[] = []
  const paint = paintFor(io)
  const colours = { done: paint.green, unchanged: paint.dim, warning: paint.yellow }

  function show(kind: keyof typeof marks, text: string): void {
    const mark = colours[kind](marks[kind])
    if (prompts !== undefined) prompts.step(mark, text)
    else if (!json) io.err(`${mark} ${text}\n`)
  }

  function report(step: ConnectStep): void {
    all.push(step)
    const soft = step.outcome === 'unchanged' ? paint.dim : (text: string) => text
    show(step.outcome, soft(printable(`${step.step.padEnd(nameWidth)}${gap}${step.detail}`)))
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
      show('warning', printable(text))
    },
  }
}
