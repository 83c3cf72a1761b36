/** A check looks at one thing, and returns one result or several. */

import type { NotChecked } from './not-checked.ts'
import type { Subject } from './subject.ts'

export type State = 'ok' | 'warning' | 'problem' | 'not-checked'

/** The groups of a report, in its order. */
export const groups = ['configuration', 'files', 'gateway', 'work', 'machine'] as const
export type Group = (typeof groups)[number]

export interface Result {
  readonly state: State
  /** A stable code in upper snake case. Absent where all is well. */
  readonly code?: string
  /** One line, without a full stop. Never holds a secret. */
  readonly message: string
  /** What to do about it. */
  readonly fix?: string
  /** The place, `file:line:column`, as the user would write it. */
  readonly place?: string
}

export interface Check {
  /** Stable, kebab-case. */
  readonly name: string
  readonly group: Group
  /** One or two words for what it looks at. */
  readonly title: string
  /**
   * Returns at least one result. The signal aborts when its time is up.
   * @throws NotChecked
   */
  run(subject: Subject, signal: AbortSignal): Promise<Result | readonly Result[]>
}

export function ok(message: string): Result {
  return { state: 'ok', message }
}

export function warning(code: string, message: string, fix?: string): Result {
  return { state: 'warning', code, message, ...(fix !== undefined && { fix }) }
}

export function problem(code: string, message: string, fix?: string): Result {
  return { state: 'problem', code, message, ...(fix !== undefined && { fix }) }
}

export function notChecked({ code, message, fix }: Pick<NotChecked, 'code' | 'message' | 'fix'>): Result {
  return { state: 'not-checked', code, message, ...(fix !== undefined && { fix }) }
}
