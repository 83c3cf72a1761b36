/** Describes the result of compiling a mapping, which resolving runs: closures that look up and parse nothing. */

import type { Coalesce } from '../../config/configuration.ts'
import type { FieldName } from '../../config/values/fields.ts'
import type { Path } from '../../config/values/path.ts'
import type { TransformFunction } from '../../transform/port.ts'
import type { Containment } from './containment.ts'
import type { FieldError } from './decision.ts'
import type { Output } from './output.ts'
import type { Scope } from './scope.ts'
import type { FailedClause } from './trace.ts'

/** Renders into segments. Throws only the errors of output.ts. */
export type Template = (scope: Scope, output: Output) => void

/** Resolves with plain JSON. Rejects with an {@link ExpressionError}, or as the containment demands. */
export type Expression = (scope: Scope) => Promise<unknown>

/** The reason why an expression gave no value. The message names code and column, and never a value. */
export class ExpressionError extends Error {
  /** The code as in JSONata's documentation: `T2002`. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExpressionError'
    this.code = code
  }
}

/** The reason why a clause of a mapping's `match` could not be decided. The message never quotes a value. */
export class ClauseError extends Error {
  /** The clause as written: `match.when`, `match.body.ref`. */
  readonly clause: string

  constructor(clause: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClauseError'
    this.clause = clause
  }
}

/** An error counts as no match, and is named in the reason if nothing matches. */
export type Verdict = boolean | ClauseError

/** A necessary condition for a match: a header, or a field of the payload at a path through lists, has one of `values`. */
export interface Equality {
  readonly part: 'header' | 'body'
  readonly path: readonly string[]
  readonly values: readonly (string | number | boolean | null)[]
}

export interface Matcher {
  /** All of them must hold. The decision index files the mapping under one of them. */
  readonly equalities: readonly Equality[]
  /** True if the mapping matches. It is a promise only if `match.when` has to be awaited. */
  readonly matches: (scope: Scope) => Verdict | Promise<Verdict>
  /** Returns the first failing clause, in the order in which `matches` tests them, or undefined if all hold. */
  readonly explain: (scope: Scope) => Promise<FailedClause | undefined>
}

export type Field =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'template'; readonly render: Template }
  /** `choices` are the texts of the mapping between which it chooses, if it does nothing else. */
  | { readonly kind: 'expression'; readonly evaluate: Expression; readonly choices?: readonly string[] }

/** A field that is rendered for each action. */
export type KeyField = Exclude<Field, { kind: 'literal' }>

/** Returns what is wrong with a payload. `containment` is that of the calling thread. */
export type CheckPayload = (payload: unknown, containment: Containment) => readonly FieldError[]

/** A compiled mapping. */
export interface Program {
  /** Identifies it in this process, from 1. A mapping that a reload has not changed keeps its number. */
  readonly number: number
  readonly id: string
  /** The `file:line:column` of the entry. */
  readonly place: string
  readonly action: 'wake' | 'agent'
  /**
   * True if any part of it may take long, so that a request that it may match is decided in an evaluator thread: an expression,
   * loops within loops, or a schema that can lead back to itself.
   */
  readonly evaluates: boolean
  readonly matcher: Matcher
  /** Returns the violation of the mapping's `schema`, if there is one. */
  readonly checkPayload: CheckPayload | undefined
  /** The expression gives one action for each element of its result. */
  readonly forEach: Expression | undefined
  /** The variables in the order in which they are computed. */
  readonly vars: readonly { readonly name: string; readonly evaluate: Expression }[]
  /** The texts of the mapping between which variables choose that do nothing else, by the variable's name. */
  readonly ownTexts?: ReadonlyMap<string, readonly string[]>
  /** The fields of the action, then those of its targets, with the rules of `name`. The path is that in the mapping. */
  readonly fields: readonly { readonly name: FieldName; readonly path: Path; readonly field: Field }[]
  /** The number of targets in `deliverTo`, which replaces `channel` and `to`. */
  readonly targets: number | undefined
  readonly runner?: string
  /** Absent: `queue`. */
  readonly busy?: 'reject'
  readonly coalesce?: Omit<Coalesce, 'key'> & { readonly key: KeyField }
  /** Absent: every request counts. Absent values in it are the provider's. */
  readonly dedupe?: { readonly key?: KeyField; readonly windowMs?: number }
  /** Reads the rendered action, and may change it. */
  readonly transform: { readonly module: string; readonly call: TransformFunction } | undefined
  /** True if an absent value in a template is refused. */
  readonly strict: boolean
  /** True if later mappings are tried too. */
  readonly continues: boolean
  /** True if the boundary is left out. */
  readonly trusted: boolean
}

/** The mappings that may match one request, each once, in matching order. */
export interface Candidates {
  /** The number of mappings that cover the endpoint, including those that the decision index skips. */
  readonly covering: number
  readonly next: () => Candidate | undefined
}

/** A mapping that may match a request, with the values that its path took from the endpoint's name. */
export interface Candidate {
  readonly program: Program
  /** The path's `:name` segments by name. Empty for a path without any. */
  readonly params: Readonly<Record<string, string>>
}
