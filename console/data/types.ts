/** What the admin API answers, as far as the console reads it. Records are those of the store; times are milliseconds since the epoch. */

import type {
  DeliveryRecord,
  EventRecord,
  IssueRecord,
  ReplayJobItem,
  RequestOutcome,
  RequestRecord,
  RunRecord,
  RunStage,
  RunState,
  SessionMessage,
  SessionSummary,
  ReplayJob as StoredReplayJob,
} from '../../runtime/store/records.ts'

export type {
  DeliveryRecord,
  EventRecord,
  IssueRecord,
  RequestOutcome,
  RunRecord,
  RunState,
  SessionMessage,
  SessionSummary,
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: string
}

/** A request as lists have it. */
export type RequestRow = Omit<RequestRecord, 'body' | 'head' | 'trace'> & {
  readonly bodyKept?: boolean
  readonly forgottenAt?: number
}

/** One request with all that is kept of it. */
export type RequestDetail = RequestRow & {
  readonly trace?: StoredTrace
  /** Without credentials and known secrets, where the body is kept. */
  readonly headers?: Texts
  readonly query?: Texts
  /** The newest requests that repeat this one. */
  readonly replays?: readonly string[]
}

export type Texts = Readonly<Record<string, string | readonly string[] | undefined>>

/** Why each mapping did or did not match, as it was when the request was received. */
export interface StoredTrace {
  readonly candidates: readonly CandidateTrace[]
  readonly more: number
  readonly isForm?: true
  readonly cut?: true
}

export interface CandidateTrace {
  readonly mapping: string
  readonly place: string
  readonly verdict: 'matched' | 'failed' | 'not-reached' | 'disabled'
  readonly clause?: {
    readonly path: string
    readonly expected: string
    readonly actual?: string
    readonly error?: string
    /** Whether every other clause of the mapping holds. */
    readonly isOnly?: true
    /** Whether the value differs only in type, case or the space around it. */
    readonly isNear?: true
  }
  readonly params?: Readonly<Record<string, string>>
}

export interface SourceTrace {
  readonly path: string
  readonly value: string
}

export interface ActionTrace {
  readonly mapping: string
  readonly index?: number
  readonly vars: readonly SourceTrace[]
  readonly fields: readonly {
    readonly field: string
    readonly value: string
    readonly from: string
    readonly sources: readonly SourceTrace[]
  }[]
  /** The message or text in pieces: the operator's words, and values of the request with their paths. */
  readonly segments?: readonly Segment[]
  /** What the model would see. */
  readonly prompt?: string
}

export type Segment = { readonly literal: string } | { readonly value: string; readonly path: string }

/** How a request ends, or would end. */
export interface Decision {
  readonly outcome: string
  readonly mapping?: string
  readonly code?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: readonly unknown[]
  readonly actions?: readonly unknown[]
}

export interface Explanation {
  readonly endpoint: string
  readonly decision?: Decision
  readonly candidates: readonly CandidateTrace[]
  readonly actions?: readonly ActionTrace[]
}

/** Where a dry run stopped a transform that wanted to reach out. */
export interface Stop {
  readonly module: string
  readonly target: string
  readonly place?: string
}

/** The answer of `GET /requests/:id/explain`. */
export interface Explained {
  readonly explanation: Explanation
  readonly by: string | number
  readonly stops?: readonly Stop[]
}

/** The answer of `POST /requests/:id/replay`, of a dry run and of a real one. */
export interface Replayed {
  readonly ok?: boolean
  readonly requestId?: string
  readonly outcome?: string
  readonly status: number
  readonly replayOf?: string
  readonly code?: string
  /** Why it ended so, or why its reply is not delivered. */
  readonly reason?: string
  readonly decision?: Decision
  readonly explanation?: Explanation
  readonly stops?: readonly Stop[]
}

/** Many requests that are done over, each once. */
export type ReplayJob = StoredReplayJob & {
  /** The newest that failed or were skipped. */
  readonly failures?: readonly ReplayJobItem[]
}

export type RunDetail = RunRecord & {
  readonly summary?: EventRecord | null
  readonly deliveries?: readonly (DeliveryRecord | undefined)[]
  readonly timings?: { readonly queuedMs?: number; readonly runMs?: number; readonly totalMs?: number }
  readonly progress?: Readonly<Record<string, unknown>>
  /** The newest requests of a burst, kept also where it was cancelled. */
  readonly joined?: readonly { readonly requestId: string; readonly at: number; readonly message?: string }[]
}

export interface Session {
  readonly key: string
  readonly messages: readonly SessionMessage[]
  readonly [fact: string]: unknown
}

export interface FoundRecord {
  readonly kind: 'request' | 'run' | 'event' | 'delivery' | 'session' | 'generation'
  readonly id: string
}

/** What happened since the last frame of the stream. */
export interface Frame {
  readonly at: number
  /** The newest requests, oldest first. */
  readonly requests?: readonly RequestRow[]
  /** How many more there were. */
  readonly skipped?: number
  readonly runs?: readonly { readonly id: string; readonly state: RunState; readonly stage: RunStage }[]
  readonly events?: readonly { readonly id: string }[]
  readonly deliveries?: readonly { readonly id: string; readonly state?: string }[]
  readonly issues?: boolean
  readonly generation?: number
  readonly reload?: boolean
  /** Runs, events or deliveries were too many to be named: lists have to be read again. */
  readonly partial?: boolean
}
