/** The messages between the main thread and the writer's thread. */

import type { ClaimName, GivenClaim } from '../../claims.ts'
import type {
  Acceptance,
  Command,
  Health,
  Id,
  Migration,
  Store,
  StoreError,
  StoreLimits,
  StoreOptions,
} from '../../port.ts'
import type { ClaimOrder } from '../../worker-pool.ts'
import type { Flat } from '../database/rows.ts'
import type { PlainWork } from '../records/loading.ts'
import type { Fault } from './faulty-disk.ts'

/** The writer's settings at its start. */
export interface WriterData extends StoreLimits, Pick<StoreOptions, 'historyMessages' | 'mostWithoutEffect'> {
  readonly folder: string
  readonly now: number
}

/** Everything that the main thread sends at one time. */
export interface Post {
  /** Posts are numbered from 1. */
  readonly number: number
  readonly now: number
  readonly entries: Flat
  readonly entryCount: number
  readonly notes: Flat
  readonly noteCount: number
  readonly orders: readonly Order[]
}

/** An order with a `call` is answered after the commit; others are not answered. */
export type Order = { readonly call?: number } & (
  | ClaimOrder
  | { readonly type: 'configure'; readonly limits: StoreLimits }
  | { readonly type: 'command'; readonly command: Command }
  | { readonly type: 'listen'; readonly on: boolean }
  /** Does nothing itself: it makes the writer run a batch at the time of the post. */
  | { readonly type: 'tick' }
  /** Checks that the open files are still those at their paths. */
  | { readonly type: 'check-files' }
  /** Notes that the sender of a request was answered 503 before its commit ended. */
  | { readonly type: 'refused-before-commit'; readonly request: Id }
  /** Writes and deletes a row, to find out whether writing works again. */
  | { readonly type: 'probe' }
  | { readonly type: 'fault'; readonly fault: Fault }
  | { readonly type: 'close' }
)

export type PlainError = Pick<StoreError, 'code' | 'message' | 'brief'>

export type Answer = { readonly call: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: PlainError }
)

/** A claim with what its task works with, as of the commit that gave it. If that cannot be read, the holder's own load says why. */
export interface LoadedClaim extends GivenClaim {
  readonly work?: PlainWork
}

/** The writer sends one reply for each batch, after its commit. */
export interface Reply {
  readonly type: 'reply'
  /** The number of the newest post that had arrived when the batch began. */
  readonly post: number
  /** How many entries the reply answers, the oldest first. Those without a row in `special` were accepted whole. */
  readonly entries: number
  readonly special: readonly (readonly [index: number, answer: Acceptance | PlainError])[]
  readonly notes: number
  readonly answers: readonly Answer[]
  readonly claims: readonly LoadedClaim[]
  /** Claims, given in this reply or earlier, whose runs were cancelled. */
  readonly cancelled: readonly ClaimName[]
  readonly changes: readonly (string | undefined)[]
  readonly state: WriterState
}

export interface WriterState
  extends Pick<Health, 'writable' | 'reason' | 'brief' | 'backlog' | 'commits' | 'outage'> {
  /** How many events are pending. */
  readonly pending: number
  /** When the writer wants to run a batch by itself. */
  readonly wakeAt: number
}

/** Puts the store into a new file, once the reader has closed its connection. Answered by `state`, and by the replies that were held. */
export interface Rescue {
  readonly type: 'rescue'
  readonly now: number
}

export type FromWriter =
  | { readonly type: 'migrating'; readonly migration: Migration }
  | ({ readonly type: 'ready'; readonly state: WriterState } & Pick<Store, 'newestAt' | 'leftOpen'>)
  | { readonly type: 'failed'; readonly error: PlainError }
  /** The disk has failed, a rescue has failed, or it has succeeded. */
  | { readonly type: 'state'; readonly state: WriterState }
  | Reply
