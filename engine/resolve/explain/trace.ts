/** What `explain` answers: why each mapping did or did not match, and where every field of an action comes from. */

import type { Segment } from '../../boundary/segment.ts'
import type { FieldName } from '../../config/fields.ts'
import type { Decision } from '../decision.ts'

export interface Explanation {
  readonly endpoint: string
  readonly decision: Decision
  /**
   * In matching order, every mapping whose path covers the endpoint; those that the decision index passed over are
   * shown as they would have failed.
   */
  readonly candidates: readonly CandidateTrace[]
  /** As many as the decision has, in its order; of a refused request those that were rendered. */
  readonly actions: readonly ActionTrace[]
}

export interface CandidateTrace {
  readonly mapping: string
  /** `file:line:column` of the entry. */
  readonly place: string
  /**
   * `not-reached`: an earlier mapping had matched; where none had, the request was ignored before any was asked.
   * `disabled`: it says `enabled: false`.
   */
  readonly verdict: 'matched' | 'failed' | 'not-reached' | 'disabled'
  /** Present where it failed. */
  readonly clause?: ClauseTrace
  /** What the path took from the endpoint's name. */
  readonly params?: Readonly<Record<string, string>>
}

/** A clause that failed, its actual value not yet fit to be shown. */
export interface FailedClause {
  /** From the mapping entry: `['match', 'body', 'pull_request', 'draft']`. */
  readonly path: readonly (string | number)[]
  /** In words that end a sentence: `"opened"`, `one of "a", "b"`, `text that begins with "refs/tags/"`. */
  readonly expected: string
  /** Absent where the payload has no such field. */
  readonly actual?: unknown
  /** Why a clause could not be decided: an expression's error. */
  readonly error?: string
}

export interface ClauseTrace {
  /** As written: `match.body.pull_request.draft`. */
  readonly path: string
  readonly expected: string
  /** As compact JSON, redacted and shortened; absent where the payload has no such field. */
  readonly actual?: string
  readonly error?: string
}

export interface ActionTrace {
  readonly mapping: string
  /** The element's position, for a mapping with `forEach`. */
  readonly index?: number
  readonly vars: readonly SourceTrace[]
  readonly fields: readonly FieldTrace[]
}

export interface FieldTrace {
  /**
   * `message`, `sessionKey`, …; of `deliverTo` as `deliverTo[0].to`, of `coalesce` and `dedupe` as
   * `coalesce.key`. `pool` and `budget` are names of policies.
   */
  readonly field: string
  /** As the action has it, redacted and shortened. */
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

/** The fields that an answer names, each with its value and, for a prompt, its pieces. */
export type Change = readonly (readonly [
  name: ChangedName,
  value: unknown,
  segments: readonly Segment[] | undefined,
])[]
export type ChangedName = FieldName | 'deliverTo' | 'action'
