/** Defines what a check is and returns, and runs checks side by side. */

import type { Settings } from '@reveille/engine'
import type { Compiled } from '../authoring/compile.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { type GatewayView, NotChecked } from './gateway-view.ts'

export type State = 'ok' | 'warning' | 'problem' | 'not-checked'

/** The groups of a report, in its order. */
export const groups = ['configuration', 'files', 'gateway', 'cluster', 'work', 'machine'] as const

export interface Result {
  readonly state: State
  /** A stable code in upper snake case. Absent where all is well. */
  readonly code?: string
  /** One line, without a full stop. Never holds a secret. */
  readonly message: string
  /** Advice on the problem. */
  readonly fix?: string | undefined
  /** The place, `file:line:column`, as the user would write it. */
  readonly place?: string
}

/** What all checks look at: one configuration, its files and the gateway that it describes. */
export interface Subject {
  readonly io: Io
  /** The absolute path of the configuration file. */
  readonly file: string
  /** True if a public server may be asked. */
  readonly isOnline: boolean
  /** The compiled configuration, or everything that is wrong with it. */
  readonly compiled: Compiled
  /** Of a configuration with errors, those of its block `gateway:`. @throws NotChecked where that has errors too */
  settings(): Settings
  /** @throws NotChecked as `settings` */
  gateway(): GatewayView
}

/** A check looks at one thing, and returns one result or several. */
export interface Check {
  /** Stable, kebab-case. */
  readonly name: string
  readonly group: (typeof groups)[number]
  /** One or two words for what it looks at. */
  readonly title: string
  /** Returns at least one result. @throws NotChecked */
  run(subject: Subject): Promise<Result | readonly Result[]>
}

export interface Checked {
  readonly check: Check
  readonly results: readonly Result[]
}

export const ok = (message: string): Result => ({ state: 'ok', message })
type Judge = (code: string, message: string, fix?: string) => Result
export const warning: Judge = (code, message, fix) => ({ state: 'warning', code, message, fix })
export const problem: Judge = (code, message, fix) => ({ state: 'problem', code, message, fix })

/** The findings, or that all is well. */
export function orOk(found: readonly Result[], message: string): readonly Result[] {
  return found.length > 0 ? found : [ok(message)]
}

/** @throws NotChecked for a configuration with errors */
export function valid({ compiled }: Subject): Extract<Compiled, { readonly ok: true }> {
  if (compiled.ok) return compiled
  throw new NotChecked('CONFIGURATION_BROKEN', 'the configuration has errors')
}

/** Runs each check so that none can stop the others. Returns the results in the order of the checks. */
export function runChecks(checks: readonly Check[], subject: Subject): Promise<readonly Checked[]> {
  const run = async (check: Check) => [await check.run(subject)].flat()
  return Promise.all(
    checks.map(async (check) => ({
      check,
      results: await run(check).catch((error) => [notChecked(error)]),
    })),
  )
}

function notChecked(error: unknown): Result {
  // The message of another error may quote a secret, while its code is only a name.
  const { code = 'it failed' } = error as { readonly code?: string }
  if (error instanceof NotChecked) return { state: 'not-checked', code, message: error.message }
  const isAnswer = error instanceof CommandFailure
  const message = isAnswer ? (error.message.split('\n', 1)[0] ?? '').replace(/\.$/, '') : code
  return { state: 'not-checked', code: isAnswer ? 'GATEWAY_ANSWER' : 'CHECK_FAILED', message }
}
