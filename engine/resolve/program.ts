/** Describes what compiling makes of a mapping and resolving runs: closures, with nothing left to look up or parse. */

import type { Coalesce } from '../config/configuration.ts'
import type { FieldName } from '../config/fields.ts'
import type { TransformFunction } from '../transform/port.ts'
import type { Containment } from './containment.ts'
import type { FieldError } from './decision.ts'
import type { FailedClause } from './explain/trace.ts'
import type { Output } from './render/output.ts'
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

/** Why a clause of a mapping's `match` could not be decided. The message never quotes a value. */
export class ClauseError extends Error {
  /** As written: `match.when`, `match.body.ref`. */
  readonly clause: string

  constructor(clause: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClauseError'
    this.clause = clause
  }
}

/** An error counts as no match, and is named in the reason why nothing matched. */
export type Verdict = boolean | ClauseError

/**
 * What a request must have to be matched, though it need not be enough: one of `values` in a header, or at a field of
 * the payload by its path, through lists.
 */
export interface Equality {
  readonly of: 'header' | 'body'
  readonly path: readonly string[]
  readonly values: readonly (string | number | boolean | null)[]
}

export interface Matcher {
  /** Every one of them must hold: the decision index files the mapping under one. */
  readonly equalities: readonly Equality[]
  /** Whether the mapping is meant; a promise only where `match.when` has to be waited for. */
  readonly matches: (scope: Scope) => Verdict | Promise<Verdict>
  /** The first clause that fails, in the order in which `matches` asks them; nothing where all hold. */
  readonly explain: (scope: Scope) => Promise<FailedClause | undefined>
}

export type Field =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'template'; readonly render: Template }
  | { readonly kind: 'expression'; readonly evaluate: Expression }

/** Rendered for each action. */
export type KeyField = Exclude<Field, { kind: 'literal' }>

/** What is wrong with a payload. `containment`: of the thread that asks. */
export type CheckPayload = (payload: unknown, containment: Containment) => readonly FieldError[]

/** A mapping, ready to run. */
export interface Program {
  readonly id: string
  /** `file:line:column` of the entry. */
  readonly place: string
  readonly action: 'wake' | 'agent'
  readonly matcher: Matcher
  /** What is wrong with the payload by the mapping's `schema`, if anything. */
  readonly checkPayload: CheckPayload | undefined
  /** One action for each element of what it gives. */
  readonly forEach: Expression | undefined
  /** In the order in which they are computed. */
  readonly vars: readonly { readonly name: string; readonly evaluate: Expression }[]
  readonly fields: readonly { readonly name: FieldName; readonly field: Field }[]
  /** Instead of `channel` and `to`. */
  readonly deliverTo: readonly { readonly channel: Field; readonly to: Field | undefined }[] | undefined
  readonly runner?: string
  /** Absent: `queue`. */
  readonly busy?: 'reject'
  readonly coalesce?: Omit<Coalesce, 'key'> & { readonly key: KeyField }
  /** Absent: every request counts. What is absent in it is the provider's. */
  readonly dedupe?: { readonly key?: KeyField; readonly windowMs?: number }
  /** Looks at the rendered action, and may change it. */
  readonly transform: { readonly module: string; readonly call: TransformFunction } | undefined
  /** An absent value in a template is refused. */
  readonly strict: boolean
  /** Later mappings are tried too. */
  readonly continues: boolean
  /** No boundary for what it renders. */
  readonly trusted: boolean
}

/** The mappings that may match one request, handed out in matching order, none of them twice. */
export interface Candidates {
  /** How many mappings cover the endpoint, those that the decision index passes over included. */
  readonly covering: number
  readonly next: () => Candidate | undefined
}

/** A mapping that may match a request, and what its path took from the endpoint's name. */
export interface Candidate {
  readonly program: Program
  /** The path's `:name` segments by name; empty for a path without any. */
  readonly params: Readonly<Record<string, string>>
}
