/** Owns what a check is: one look at one thing, and what it may find. */

import type { Subject } from './subject.ts'

export type State = 'ok' | 'warning' | 'problem' | 'not-checked'

/** As they are told, in this order. */
export const groups = ['configuration', 'files', 'gateway', 'work', 'machine'] as const
export type Group = (typeof groups)[number]

export interface Result {
  readonly state: State
  /** Stable, upper snake case; says what was found. Absent where all is well. */
  readonly code?: string
  /** One line, without a full stop. Never holds a secret. */
  readonly message: string
  /** What to do about it. */
  readonly fix?: string
  /** `file:line:column`, as the user would write it. */
  readonly place?: string
}

export interface Check {
  /** Stable, kebab-case. */
  readonly name: string
  readonly group: Group
  /** What it looks at, in a word or two. */
  readonly title: string
  /**
   * At least one result, or the only one. `signal`: the time for it is up.
   * @throws NotChecked
   */
  run(subject: Subject, signal: AbortSignal): Promise<Result | readonly Result[]>
}

/** Why something cannot be looked at. The message is one line without a full stop, and never holds a secret. */
export class NotChecked extends Error {
  readonly code: string
  readonly fix: string | undefined

  constructor(code: string, message: string, fix?: string) {
    super(message)
    this.name = 'NotChecked'
    this.code = code
    this.fix = fix
  }
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
