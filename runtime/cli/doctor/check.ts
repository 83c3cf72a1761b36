/** Defines what a check is and returns, and runs checks side by side. */

import { CommandFailure } from '../command-failure.ts'
import type { DoctorContext } from './context.ts'
import { NotChecked } from './gateway-view.ts'

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

/** A check looks at one thing, and returns one result or several. */
export interface Check {
  /** Stable, kebab-case. */
  readonly name: string
  readonly group: (typeof groups)[number]
  /** One or two words for what it looks at. */
  readonly title: string
  /**
   * Returns at least one result. The signal aborts when its time is up.
   * @throws NotChecked
   */
  run(subject: DoctorContext, signal: AbortSignal): Promise<Result | readonly Result[]>
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
export function orOk(found: readonly Result[], message: string): Result | readonly Result[] {
  return found.length > 0 ? found : ok(message)
}

/** The time for one check, which is longer than any single question takes. */
const defaultLimitMs = 15_000

/** Runs each check for a limited time, so that none can stop the others. Returns the results in the order of the checks. */
export function runChecks(
  checks: readonly Check[],
  subject: DoctorContext,
  limitMs = defaultLimitMs,
): Promise<readonly Checked[]> {
  return Promise.all(
    checks.map(async (check) => ({ check, results: [await runCheck(check, subject, limitMs)].flat() })),
  )
}

async function runCheck(check: Check, subject: DoctorContext, limitMs: number) {
  const late = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.abort()
    reject(new NotChecked('CHECK_TIMEOUT', `it did not end within ${limitMs / 1000} s`))
  }, limitMs)
  try {
    return await Promise.race([promise, check.run(subject, late.signal)])
  } catch (error) {
    return { state: 'not-checked', ...reasonOf(error) } as const
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof NotChecked) return { code: error.code, message: error.message }
  if (error instanceof CommandFailure)
    return { code: 'GATEWAY_ANSWER', message: (error.message.split('\n', 1)[0] ?? '').replace(/\.$/, '') }
  // The message may quote a secret, while the code is only a name.
  const { code } = error as { readonly code?: unknown }
  return { code: 'CHECK_FAILED', message: typeof code === 'string' ? `it failed: ${code}` : 'it failed' }
}
