/** Reports the end of setup: what is connected now, or why it is not, and what to do then. */

import { isPluginError, oneLine } from '@reveille/kit'
import { PluginSetupError } from '../../plugin/index.ts'
import { CommandFailure } from '../command-failure.ts'
import { type Io, paintFor } from '../io.ts'
import { pasted } from '../pasted.ts'
import type { Prompts } from '../prompts.ts'
import type { Advice } from './advice.ts'
import type { Steps } from './steps.ts'

export interface Done {
  readonly mailbox: Readonly<Record<string, unknown>>
  /** Milliseconds since the Unix epoch; absent where the plugin has not stored it. */
  readonly watchEnds: number | undefined
  readonly changed: boolean
  readonly advice: Advice
}

interface ReportOptions {
  readonly shown: string
  readonly json: boolean
  readonly prompts: Prompts | undefined
  readonly steps: Steps
}

export function reportDone(done: Done, { shown, json, prompts, steps }: ReportOptions, io: Io): void {
  const { mailbox, watchEnds, changed, advice } = done
  const { account, topic, subscription, label, mode = 'pull' } = mailbox
  if (json) {
    const answer = {
      ok: true,
      account,
      project: /^projects\/([^/]+)\//.exec(String(topic))?.[1],
      topic,
      subscription,
      label: label ?? 'INBOX',
      mode,
      watchEnds,
      steps: steps.all,
      warnings: steps.warnings,
      configuration: { file: shown, changed },
    }
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  const lines = [`${account} is set up.`, '', ...advice.next]
  if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
  else {
    prompts.note(lines.join('\n'))
    prompts.end(paintFor(io).green('Done.'))
  }
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly exitCode: number
}

/** @throws an error of another kind, which is a fault of the program */
export function setupFailure(error: unknown, io: Io): Failure {
  if (error instanceof CommandFailure) {
    return { code: 'failed', message: error.message, exitCode: error.exitCode }
  }
  if (error instanceof PluginSetupError) return { code: error.code, message: error.message, exitCode: 1 }
  if (!isPluginError(error)) throw error
  const again = `What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`
  return { code: error.code, message: `${error.message}\n${again}`, exitCode: 1 }
}

/** An unexpected error without its stack, which does not help the person who sets a mailbox up. */
export function unexpected(error: unknown): CommandFailure {
  const why = error instanceof Error ? error.message : String(error)
  return new CommandFailure(1, `It failed unexpectedly: ${oneLine(why, 300)}`, { cause: error })
}

export function cancelled(io: Io): CommandFailure {
  return new CommandFailure(
    1,
    `Called off. What was done is kept: ${pasted('webhooks gmail setup', io)} goes on from there.`,
  )
}
