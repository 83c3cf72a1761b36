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
  /** At least one result. `signal`: the time for it is up. */
  run(subject: Subject, signal: AbortSignal): Promise<readonly Result[]>
}

export const ok = (message: string): Result => ({ state: 'ok', message })

/** Of something that another part says, or that nobody can know now. */
export const notChecked = (code: string, message: string, fix?: string): Result => ({
  state: 'not-checked',
  code,
  message,
  ...(fix !== undefined && { fix }),
})
