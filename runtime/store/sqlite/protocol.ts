/** Owns the messages between the main thread and the two workers. */

import type {
  Acceptance,
  ClaimedTask,
  Command,
  Effects,
  Id,
  Settlement,
  StoreErrorCode,
  StoreLimits,
  TaskKind,
  WorkOptions,
} from '../port.ts'
import type { Flat } from './entry.ts'
import type { Fault } from './fault.ts'

/** Given to the writer at its start. */
export interface WriterData extends StoreLimits {
  readonly folder: string
  readonly historyMessages: number
  readonly mostWithoutEffect?: number
  readonly mostBodyBytes?: number
  readonly now: number
}

/** What the main thread has to say at one time. */
export interface Post {
  /** Counts up from 1. */
  readonly number: number
  readonly now: number
  readonly entries: Flat
  readonly entryCount: number
  readonly notes: Flat
  readonly noteCount: number
  readonly orders: readonly Order[]
}

/** `call` is answered after the commit; orders without one are not answered. */
export type Order = { readonly call?: number } & (
  | {
      readonly type: 'hire'
      readonly workforce: number
      readonly kinds: readonly TaskKind[]
      readonly concurrency: number
      readonly pools?: WorkOptions['pools']
    }
  | {
      readonly type: 'resize'
      readonly workforce: number
      readonly concurrency: number
      readonly pools?: WorkOptions['pools']
    }
  | { readonly type: 'rest'; readonly workforce: number }
  | { readonly type: 'configure'; readonly limits: StoreLimits }
  | { readonly type: 'load'; readonly claim: number }
  | { readonly type: 'checkpoint'; readonly claim: number; readonly effects: Effects }
  | { readonly type: 'settle'; readonly claim: number; readonly settlement: Settlement }
  | { readonly type: 'command'; readonly command: Command }
  | { readonly type: 'listen'; readonly on: boolean }
  /** Does nothing; the passing of time is the message. */
  | { readonly type: 'tick' }
  /** Looks whether the files that are open are those at their paths. */
  | { readonly type: 'look' }
  /** The sender of a request was answered 503 before its commit ended. */
  | { readonly type: 'answered-before'; readonly request: Id }
  /** Writes something, to learn whether writing works again. */
  | { readonly type: 'probe' }
  | { readonly type: 'fault'; readonly fault: Fault }
  | { readonly type: 'close' }
)

export interface PlainError {
  readonly code: StoreErrorCode
  readonly message: string
  readonly brief?: string
}

export type Answer = { readonly call: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: PlainError }
)

export interface ClaimName {
  readonly workforce: number
  readonly claim: number
}

export interface GivenClaim extends ClaimName {
  readonly task: ClaimedTask
}

/** One per batch, after its commit. */
export interface Reply {
  readonly type: 'reply'
  /** The newest post that had arrived when the batch began. */
  readonly post: number
  /** How many entries it answers, the oldest first; those that are not named in `special` were accepted whole. */
  readonly entries: number
  readonly special: readonly (readonly [index: number, answer: Acceptance | PlainError])[]
  readonly notes: number
  readonly answers: readonly Answer[]
  readonly claims: readonly GivenClaim[]
  /** Claims that were given before, now or earlier, and whose runs were cancelled. */
  readonly cancelled: readonly ClaimName[]
  readonly changes: readonly (string | undefined)[]
  readonly state: WriterState
}

export interface WriterState {
  readonly writable: boolean
  readonly reason?: string
  readonly brief?: string
  readonly backlog: number
  /** Pending events. */
  readonly pending: number
  readonly commits: number
  /** When there is something to do though nobody asks. */
  readonly wakeAt: number
}

export type FromWriter =
  | { readonly type: 'ready'; readonly state: WriterState }
  | { readonly type: 'failed'; readonly error: PlainError }
  | Reply
