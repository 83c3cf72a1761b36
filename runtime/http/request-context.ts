/** Defines what is known about one request on its way through the pipeline, and how a request can end. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import {
  type Action,
  type Decision,
  type FieldError,
  type Handshake,
  type HookRequest,
  type Live,
  type Reply,
  UnavailableError,
} from '@reveille/engine'
import { type Id, type RequestRecord, StoreError } from '../store/port.ts'
import type { AuthFailureCode } from './auth/auth-failure.ts'
import { SenderGone } from './body/read-body.ts'
import { type ErrorCode, errorDefinition, isErrorCode, RequestError } from './errors.ts'

/** Facts about a request, whether it has a sender that waits for a reply or is a replay of one that is stored. */
export interface RequestFacts {
  /** The names are in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The address of the sender behind trusted proxies. For an internal request it names the source, for a replay its original's client. */
  readonly client: string
  /**
   * A source of this process made the request, or an operator asked for it, so that it is trusted. Such requests are made by a function
   * call (`sources/internal-request.ts`, `replay.ts`), never by anything that a request holds.
   */
  readonly isInternal: boolean
  /** Authentication of an internal request, where its record is to show it. */
  readonly authenticatedBy?: RequestRecord['authenticatedBy']
  /** Present for a replay. */
  readonly replay?: ReplayTerms | undefined
  readonly requestId: Id
  /** The name of this process among others on the same store. */
  readonly node?: string | undefined
  /** The snapshot is pinned once: a reload does not touch requests that are on their way. */
  readonly live: Live
  /** Absent if the URL names no endpoint. */
  readonly endpoint: string | undefined
  /** The part after the `?`, as sent. */
  readonly query: string
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number
  /** Milliseconds from the head until the body was read, and until the engine had decided. */
  readonly timings: { readonly read?: number; readonly resolve?: number }
  /** The body, decoded from gzip and the like; absent until it is read. */
  readonly body?: Buffer
  /** The SHA-256 of the body; present where the sender gave an idempotency key, or the mapping has a `dedupe.key`. */
  readonly bodyDigest?: string
  /** Present if the token or the signature was right, or the endpoint requires none. */
  readonly isAuthenticated?: true
  /** The id that the sender gave the delivery, where the endpoint's provider names one. */
  readonly deliveryId?: string | undefined
}

/** A request with a sender that waits for a reply. */
export interface RequestContext extends RequestFacts {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** True if it came to the listener for tunnels, where nothing counts as local. */
  readonly isTunnelled: boolean
  /** True if the token came as `?token=`. */
  readonly deprecated: boolean
}

/** Result of the steps of the pipeline: the facts known by then, and the outcome, which the recorder keeps. */
export interface Concluded<Facts extends RequestFacts = RequestFacts> {
  readonly facts: Facts
  readonly outcome: Exclude<RequestOutcome, Duplicate>
  /** Input of the engine's decision, where the record is to show how each mapping was tried. */
  readonly decided?: Decided
}

export interface Decided {
  readonly request: HookRequest
  readonly decision: Decision
}

/** Options of a replay. */
export interface ReplayTerms {
  /** The original: the first request of all that repeat each other. */
  readonly original: Id
  /**
   * `own`: its actions are duplicates of those with the same keys, and later ones are duplicates of them, because nothing came of the
   * original. `apart`: they count whatever came before.
   */
  readonly dedupe: 'own' | 'apart'
  /** Reason why replies of its runs are not delivered, as a sentence for the record. Absent: they are delivered as the mapping says. */
  readonly undelivered?: string | undefined
  /** The name of the token of the operator who asked for it. */
  readonly by?: string | undefined
}

/** An action as the store has it, with the id of its run or event. */
export interface PersistedAction {
  readonly id: Id
  readonly action: Action
  /**
   * The store's treatment of the action, unless it is a run or event of its own. `joined`: it became a part of the run `id`, which was
   * there before. `busy`: its session had a run already, so the run `id` was cancelled. `duplicate`: it is the run or event `id`, which
   * `originalRequest` brought.
   */
  readonly disposition?: 'joined' | 'busy' | 'duplicate'
  readonly originalRequest?: Id
}

export type RequestOutcome =
  | Accepted
  | Duplicate
  | {
      readonly outcome: 'ignored' | 'skipped'
      readonly reason: string
      readonly mapping?: string
      readonly reply?: Reply
      /** The gateway itself caused the request. */
      readonly isLoop?: true
    }
  | { readonly outcome: 'handshake'; readonly handshake: Handshake; readonly mapping?: never }
  | Refused

export interface Accepted {
  readonly outcome: 'accepted'
  readonly actions: readonly PersistedAction[]
  readonly mapping?: string
  /** The fields of the body that have no effect, for the sender. */
  readonly warnings?: readonly FieldError[]
  /** The reply of a transform, in the place of the gateway's own. */
  readonly reply?: Reply
}

/** Everything that the request asks for was there before. The store has made its record. */
export interface Duplicate extends Omit<Accepted, 'outcome'> {
  readonly outcome: 'duplicate'
  /** The key of the mapping's `dedupe` came before with another body, so that it may be too coarse. */
  readonly hasOtherBody?: true
}

export interface Refused {
  /** `duplicate`: the idempotency key was used before with another body. The store has made the record. */
  readonly outcome: 'refused' | 'failed' | 'duplicate'
  readonly code: ErrorCode
  /** Default: the status of the code. */
  readonly status?: number
  /** Default: the sentence of the code. */
  readonly sentence?: string
  readonly details?: readonly FieldError[]
  /** Seconds to wait. Default: those of the code. */
  readonly retryAfter?: number
  readonly mapping?: string
  /**
   * The sender was authenticated, and another configuration would not refuse its request: it is kept as a failed one is, and its
   * record is on the disk before the reply, because few senders come again after a 4xx.
   */
  readonly isByConfiguration?: true
  /** Reason why the sender was not authenticated; never sent. */
  readonly failure?: AuthFailureCode
  /** The reply that the provider expects in the place of the gateway's error. */
  readonly handshake?: Handshake
  /** The sentence with its cause, for the log and the record; never sent. Default: the sentence. */
  readonly reason?: string
  /** The error on our side, for the log alone. */
  readonly fault?: unknown
}

export function isRefusedByConfiguration(result: RequestOutcome): boolean {
  return 'code' in result && result.isByConfiguration === true
}

export function refused(code: ErrorCode): Refused {
  return { outcome: 'refused', code }
}

/** Outcome of a request that ended with an error. @throws SenderGone, as nobody is left to reply to */
export function outcomeOfError(error: unknown): Refused {
  if (error instanceof SenderGone) throw error
  if (error instanceof RequestError)
    return { ...refused(error.code), sentence: error.message, details: error.details }
  if (error instanceof UnavailableError) return { ...refused('VERIFIER_UNAVAILABLE'), fault: error }
  if (error instanceof StoreError && isErrorCode(error.code)) {
    const isExpected = error.code === 'BACKLOG' || error.code === 'DRAINING'
    return { ...refused(error.code), ...(!isExpected && { reason: error.message, fault: error }) }
  }
  return { outcome: 'failed', code: 'INTERNAL', fault: error }
}

/** The reason that the log and the record give. */
export function reasonOf({ reason, sentence, code }: Refused): string {
  return reason ?? sentence ?? errorDefinition(code).sentence
}

/** The time since the head of the request, in milliseconds with two decimals. `clock` is monotonic. */
export function elapsed({ startedAt }: Pick<RequestFacts, 'startedAt'>, clock: () => number): number {
  return Math.round((clock() - startedAt) * 100) / 100
}
