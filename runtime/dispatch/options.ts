/** The options that dispatch gets from its host. */

import type { CurrentLive, Timers } from '@reveille/engine'
import type { Channel, Runner } from '@reveille/kit'
import type { ProgressBoard } from '../agent/progress.ts'
import type { Fence } from '../session/history.ts'
import type { MintId } from '../store/id.ts'
import type { Store } from '../store/port.ts'

export interface DispatchOptions {
  readonly store: Store
  readonly current: CurrentLive
  /** Finds the runner that a run names. Undefined if no such runner is configured now. */
  runner(name: string): Runner | undefined
  /** Finds the channel that a run or a delivery names. Undefined if no such channel is configured now. */
  channel(name: string): Channel | undefined
  readonly fence: Fence
  readonly log: DispatchLog
  /** Milliseconds since the Unix epoch. */
  now(): number
  readonly mintId: MintId
  /** Returns a number in [0, 1), which spreads retries out. */
  random(): number
  /** Returns a new unguessable id for each fence. */
  randomId(): string
  readonly timers: Timers
  /** Shows how far running turns have got. */
  readonly progress?: ProgressBoard
  /** Returns whether a runner passes the main session's events on, so that none of them need wait for the timer. */
  relays?(runner: string): boolean
  /** Called with each part's text, and with the reply that it is a part of, just before it is sent. Must not throw. */
  onDelivered?(text: string): void
}

/** The part of pino that dispatch uses. Facts never hold a message, a prompt, a reply or a body. */
export interface DispatchLog {
  debug(facts: object, message?: string): void
  info(facts: object, message?: string): void
  warn(facts: object, message?: string): void
  error(facts: object, message?: string): void
}
