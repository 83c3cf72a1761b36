/**
 * Answers of the admin API. Records are those of the store, and answers those of the routes that declare them; only objects that a route
 * does not describe further are written here. Times are milliseconds since the epoch.
 */

import type { Answer, ItemOf } from '../../runtime/api/routes/client.ts'
import type { ValueOf } from '../../runtime/api/routes/schema.ts'
import type { streamFrame } from '../../runtime/api/routes/stream.ts'
import type { RequestTrace } from '../../runtime/store/records.ts'
import type { FieldError } from './api.ts'

export type { Answer, ItemOf } from '../../runtime/api/routes/client.ts'
export type {
  DeliveryRecord,
  EventRecord,
  IssueRecord,
  RequestOutcome,
  RunRecord,
  RunState,
  SessionSummary,
} from '../../runtime/store/records.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: string
}

/** A request as lists have it. */
export type RequestRow = ItemOf<'listRequests'>

/** One request with all that is kept of it. */
export type RequestDetail = Omit<Answer<'readRequest'>, 'trace'> & { readonly trace?: StoredTrace }

/** Reasons why each mapping matched or not, from the time when the request was received. */
type StoredTrace = Omit<RequestTrace, 'candidates'> & {
  readonly candidates: readonly CandidateTrace[]
}

/** Outcome of a request, or of its dry run. */
export interface Decision {
  readonly outcome: string
  readonly mapping?: string
  readonly code?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: readonly FieldError[]
}

/** What a request would do. For mappings that do not compile there are only diagnostics. */
export type DryRun = Omit<Answer<'tryRequest'>, 'decision'> & { readonly decision?: Decision }

export type CandidateTrace = NonNullable<DryRun['explanation']>['candidates'][number]
export type ActionTrace = NonNullable<DryRun['explanation']>['actions'][number]

/** The answer of `POST /requests/:id/replay`, of a dry run and of a real one. */
export type Replayed = DryRun & {
  readonly requestId?: string
  readonly outcome?: string
}

/** Many requests that are done over, each once. `failures` are the newest that failed or were skipped. */
export type ReplayJob = ItemOf<'listJobs'> & Partial<Pick<Answer<'readJob'>, 'failures'>>

export type RunDetail = Answer<'readRun'>
export type Session = Answer<'readSession'>
export type FoundRecord = ItemOf<'find'>

/** Changes since the last frame of the stream. */
export type Frame = ValueOf<typeof streamFrame>
