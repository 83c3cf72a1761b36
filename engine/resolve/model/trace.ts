/** Defines the answer of `explain`: why each mapping did or did not match, and where every field of an action comes from. */

import type { Segment } from '../../boundary/segment.ts'
import type { FieldName } from '../../config/values/fields.ts'
import type { Decision } from './decision.ts'

export interface Explanation {
  readonly endpoint: string
  readonly decision: Decision
  /**
   * Every mapping whose path covers the endpoint, in matching order. For those that the decision index skipped, the
   * failing clause is found afterwards.
   */
  readonly candidates: readonly CandidateTrace[]
  /** Number of candidates beyond `maxCandidates`. Absent: none. */
  readonly more?: number
  /** The traces of the decision's actions, in order. For a refused request, those of the actions that were rendered. */
  readonly actions: readonly ActionTrace[]
}

export interface CandidateTrace {
  readonly mapping: string
  /** The `file:line:column` of the entry. */
  readonly place: string
  /**
   * `not-reached`: an earlier mapping matched, or the request was ignored before any mapping was tried.
   * `disabled`: the mapping has `enabled: false`.
   */
  readonly verdict: 'matched' | 'failed' | 'not-reached' | 'disabled'
  /** Present if the mapping failed. */
  readonly clause?: ClauseTrace
  /** The values that the path took from the endpoint's name. */
  readonly params?: Readonly<Record<string, string>>
}

/** A clause that failed, with its actual value not redacted yet. */
export interface FailedClause {
  /** The path from the mapping entry: `['match', 'body', 'pull_request', 'draft']`. */
  readonly path: readonly (string | number)[]
  /** Words that end a sentence: `"opened"`, `one of "a", "b"`, `text that begins with "refs/tags/"`. */
  readonly expected: string
  /** Absent if the payload has no such field. */
  readonly actual?: unknown
  /** The error of an expression because of which the clause could not be decided. */
  readonly error?: string
  /** Present if every other clause of the mapping holds, so that one other value would have made it match. */
  readonly isOnly?: true
  /** Present if the value differs from a wanted one only in type, case or space around it. */
  readonly isNear?: true
}

export interface ClauseTrace extends Omit<FailedClause, 'path' | 'actual'> {
  /** The path as written: `match.body.pull_request.draft`. */
  readonly path: string
  /** The value as compact JSON, redacted and shortened. Absent if the payload has no such field. */
  readonly actual?: string
}

export interface ActionTrace {
  readonly mapping: string
  /** The element's position, for a mapping with `forEach`. */
  readonly index?: number
  readonly vars: readonly SourceTrace[]
  readonly fields: readonly FieldTrace[]
  /**
   * The text or message in pieces, without secrets: a `literal` is the operator's, a `value` came from outside under the
   * name `path`. Text beyond 16 KiB is left out. Absent if it was not rendered.
   */
  readonly segments?: readonly Segment[]
  /** The model's input, without secrets. Absent if the action was not admitted. */
  readonly prompt?: string
}

export interface FieldTrace {
  /**
   * `message`, `sessionKey` and so on, `deliverTo[0].to` for a target, `coalesce.key` for a key. `pool` and `budget`
   * are names of policies.
   */
  readonly field: string
  /** The value in the action, redacted and shortened. */
  readonly value: string
  readonly from: 'literal' | 'template' | 'expression' | 'transform' | 'default'
  /** The values that a template took from the request, in the order of their first use. */
  readonly sources: readonly SourceTrace[]
}

/** A value of the request by its path (`pull_request.title`), redacted and shortened, as compact JSON. */
export interface SourceTrace {
  readonly path: string
  readonly value: string
}

/** The fields that an answer sets, each with its value and, for a prompt, its pieces. */
export type Change = readonly (readonly [
  name: ChangedName,
  value: unknown,
  segments: readonly Segment[] | undefined,
])[]
export type ChangedName = FieldName | 'deliverTo' | 'action'
