/** Messages between the main thread and the core. They can be sent to another thread. */

import type { Change, Command, Health, Id, Store, StoreError, StoreLimits } from './port.ts'
import type { ClaimName, LoadedClaim } from './queue/claims.ts'
import type { PlainEntry } from './records/entries.ts'
import type { ClaimAction } from './worker-pool.ts'

/** One thing to do. All of those in one post are committed together. */
export type Action =
  | ClaimAction
  | { readonly type: 'accept'; readonly entry: PlainEntry }
  | { readonly type: 'command'; readonly command: Command | OwnCommand }
  | { readonly type: 'configure'; readonly limits: StoreLimits }
  /** Does nothing itself: it makes the core look for due tasks at the time of the post. */
  | { readonly type: 'tick' }

/** The commands that a store gives itself. */
export type OwnCommand =
  /** Writes and deletes a row, to find out whether writing works again. */
  | { readonly type: 'write-check' }
  /** Notes that the sender of a request was answered 503 before its commit ended. */
  | { readonly type: 'refused-before-commit'; readonly request: Id }

export interface Post {
  /** Posts are numbered from 1. */
  readonly number: number
  readonly now: number
  readonly actions: readonly Action[]
}

export type PlainError = Pick<StoreError, 'code' | 'message' | 'brief'>

/** Undefined for an action that was done and has nothing to answer: an entry that was accepted whole. */
export type Result = undefined | { readonly value: unknown } | { readonly error: PlainError }

/** Events of this process, with a commit or apart from any. */
export interface Happened {
  readonly claims: readonly LoadedClaim[]
  /** Claims whose runs were cancelled. */
  readonly cancelled: readonly ClaimName[]
  /** Claims that another node has taken over. */
  readonly lost: readonly ClaimName[]
  readonly changes: readonly Change[]
  readonly state: CoreState
}

export const nothingHappened: Omit<Happened, 'state'> = { claims: [], cancelled: [], lost: [], changes: [] }

export interface Reply extends Happened {
  readonly post: number
  /** One for each action of the post. */
  readonly results: readonly Result[]
}

export interface CoreState
  extends Pick<Health, 'writable' | 'reason' | 'brief' | 'backlog' | 'commits' | 'outage'> {
  /** Number of pending events. */
  readonly pending: number
  /** When the core wants a `tick`. */
  readonly wakeAt: number
}

/** State of the store once it is open. */
export type Opened = { readonly state: CoreState } & Pick<Store, 'newestAt' | 'leftOpen'>
