/** Owns what compiling makes of a mapping and resolving runs: closures, nothing to look up or parse. */

import type { Output } from './output.ts'
import type { Scope } from './scope.ts'

/** Renders into segments. Throws only the errors of output.ts. */
export type Template = (scope: Scope, output: Output) => void

/** Plain JSON, or a promise of it. Fails with an {@link ExpressionError}. */
export type Expression = (scope: Scope) => unknown | Promise<unknown>

/** Why an expression gave nothing. The message names code and column, and never a value. */
export class ExpressionError extends Error {
  /** As JSONata's documentation lists it: `T2002`. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExpressionError'
    this.code = code
  }
}

/** An error counts as no match, but is told to whoever asks why nothing matched. */
export type Verdict = boolean | ExpressionError

export type Matcher = (scope: Scope) => Verdict | Promise<Verdict>

export type Field =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'template'; readonly render: Template }
  | { readonly kind: 'expression'; readonly evaluate: Expression }

export const fieldNames = [
  'text',
  'mode',
  'message',
  'name',
  'sessionKey',
  'wakeMode',
  'deliver',
  'channel',
  'to',
  'model',
  'thinking',
  'timeoutSeconds',
] as const
export type FieldName = (typeof fieldNames)[number]

/** A mapping, ready to run. */
export interface Program {
  readonly id: string
  readonly action: 'wake' | 'agent'
  readonly matches: Matcher
  readonly fields: readonly { readonly name: FieldName; readonly field: Field }[]
  readonly runner?: string
  /** No boundary for what it renders. */
  readonly trusted: boolean
}
