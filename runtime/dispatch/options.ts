/** Owns what dispatch is given by its host. */

import type { CurrentLive, Timers } from '@reveille/engine'
import type { Channel, Runner } from '@reveille/kit'
import type { ProgressBoard } from '../agent/progress.ts'
import type { Fence } from '../session/history.ts'
import type { MintId } from '../store/id.ts'
import type { Store } from '../store/port.ts'
import type { Budgets } from './budget.ts'

export interface DispatchOptions {
  readonly store: Store
  readonly current: CurrentLive
  /** By the name that a run carries; undefined when no such runner is configured now. */
  runner(name: string): Runner | undefined
  /** By the name that a run or a delivery carries; undefined when no such channel is configured now. */
  channel(name: string): Channel | undefined
  readonly fence: Fence
  readonly log: DispatchLog
  /** Milliseconds since the Unix epoch. */
  now(): number
  readonly mintId: MintId
  /** In [0, 1): spreads retries out. */
  random(): number
  /** A fresh, unguessable id for each fence. */
  randomId(): string
  readonly timers: Timers
  /** Where the turns under way are shown. */
  readonly progress?: ProgressBoard
  /** Whether a runner passes the main session's events on, so that none of them need wait for the timer. */
  relays?(runner: string): boolean
  /** Told of each part's text just before it is sent, and of the reply that it is a part of. Never throws. */
  onDelivered?(text: string): void
}

/** What a performer is given: its host's options, and what all performers of one process share. */
export interface PerformerOptions extends DispatchOptions {
  /** Aborted when the drain's grace is over. */
  readonly stopping: AbortSignal
  readonly budgets: Budgets
}

/** The part of pino that dispatch uses. Facts never hold a message, a prompt, a reply or a body. */
export interface DispatchLog {
  debug(facts: object, message?: string): void
  info(facts: object, message?: string): void
  warn(facts: object, message?: string): void
  error(facts: object, message?: string): void
}
