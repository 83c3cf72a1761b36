/** Owns what is known about one request on its way up the ladder, and how that way can end. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Action, FieldError, Handshake, Live, Reply } from '@reveille/engine'
import type { Id } from '../store/port.ts'
import type { TrustFailure } from './auth/trust-failure.ts'
import { type ErrorCode, errorRow } from './errors.ts'
import type { Waiting } from './reply/outcome-waits.ts'

export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** The sender's address, trusted proxies looked through; of one of ours, who made it. */
  readonly client: string
  /** A source of this process made it, and is believed. Only `own-post.ts` makes such ones. */
  readonly isOurs: boolean
  readonly requestId: Id
  /** Pinned once: a reload does not touch requests that are on their way. */
  readonly live: Live
  /** Absent: the URL names no endpoint. */
  readonly endpoint: string | undefined
  /** Behind the `?`, as sent. */
  readonly query: string
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number
  readonly timings: { read?: number; resolve?: number }
  /** The body, decoded from gzip and the like; absent until it was read. */
  body?: Buffer
  /** SHA-256 of the body; present where the sender gave an idempotency key. */
  bodyDigest?: string
  /** True once the token came as `?token=`. */
  deprecated: boolean
}

/** An action with the id that its run or event bears. */
export interface Placed {
  readonly id: Id
  readonly action: Action
  /**
   * What the store made of it, if it is no run or event of its own that waits its turn. `joined`: a part of the run
   * `id`, which was there before. `busy`: its session had a run already, so that the run `id` is over. `duplicate`: it
   * is the run or event `id`, which `request` brought.
   */
  readonly became?: 'joined' | 'busy' | 'duplicate'
  readonly request?: Id
}

export type Ending =
  | Accepted
  | Duplicate
  | {
      readonly outcome: 'ignored' | 'skipped'
      readonly reason: string
      readonly mapping?: string
      readonly reply?: Reply
    }
  | { readonly outcome: 'handshake'; readonly handshake: Handshake; readonly mapping?: never }
  | Refused

export interface Accepted {
  readonly outcome: 'accepted'
  readonly placed: readonly Placed[]
  readonly mapping?: string
  /** What of its body has no effect, for its sender. */
  readonly warnings?: readonly FieldError[]
  /** What a transform answers in our place. */
  readonly reply?: Reply
  /** The sender waits for the outcome of its run. */
  readonly waiting?: Waiting
}

/** Everything that the request asks for was there before. The store has its record. */
export interface Duplicate extends Omit<Accepted, 'outcome'> {
  readonly outcome: 'duplicate'
}

export interface Refused {
  /** `duplicate`: its key was there before with another body. The store has its record. */
  readonly outcome: 'refused' | 'failed' | 'duplicate'
  readonly code: ErrorCode
  /** Absent: that of the code. */
  readonly status?: number
  /** Absent: the sentence of the code. */
  readonly sentence?: string
  readonly details?: readonly FieldError[]
  /** Seconds to wait. Absent: those of the code. */
  readonly retryAfter?: number
  readonly mapping?: string
  /** Why its sender was not believed; never for the sender. */
  readonly failure?: TrustFailure
  /** What its provider wants to read in place of our error. */
  readonly handshake?: Handshake
  /** The sentence with its cause, for whoever reads the log or the record; never for the sender. */
  readonly told?: string
  /** What went wrong on our side; for the log alone. */
  readonly fault?: unknown
}

export function refused(code: ErrorCode): Refused {
  return { outcome: 'refused', code }
}

/** The sender, or one of its earlier tries, has something to wait for. */
export function waitingIn(ending: Ending): Waiting | undefined {
  return 'placed' in ending ? ending.waiting : undefined
}

/** The reason as the log and the record tell it. */
export function reasonOf({ told, sentence, code }: Refused): string {
  return told ?? sentence ?? errorRow(code).sentence
}
