/** The options that dispatch gets from its host. */

import type { CurrentLive, Timers } from '@reveille/engine'
import type { Channel, Runner } from '@reveille/kit'
import type { ProgressBoard } from '../agent/progress.ts'
import type { RunResult } from '../agent/run-result.ts'
import type { Fence } from '../session/history.ts'
import type { MintId } from '../store/id.ts'
import type { DeliveryRecord, EventRecord, RunError, RunRecord, Store } from '../store/port.ts'
import type { ChannelState } from './delivery/channel-state.ts'

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
  /** True if this process performs accepted work. Default: true. */
  readonly performs?: boolean
  /** Shows how far running turns have got. */
  readonly progress?: ProgressBoard
  /** Returns whether a runner passes the main session's events on, so that none of them need wait for the timer. */
  relays?(runner: string): boolean
  /**
   * Called with a reply, and with each part of it that differs, just before it is sent: the service may post it back to a hook before
   * it answers. Must not throw.
   */
  onSending?(text: string): void
  /** Is called at the moments that operators care about. */
  readonly observer?: DispatchObserver
}

/** The configuration key of a budget: `agents.budget` or `endpoints.github.budget`. */
export type BudgetKey = string

/** None of these may throw. Their arguments may not be on disk yet. */
export interface DispatchObserver {
  /** A hook's run is over. */
  runEnded?(run: RunRecord, result: RunResult): void
  /** A guard has stopped a run. `budget` names the budget that is spent. */
  runParked?(run: RunRecord, error: RunError, budget: BudgetKey | undefined): void
  /** A turn of the main session was answered, or failed. One that was interrupted is neither. */
  heartbeatEnded?(
    heartbeat: RunRecord,
    failure: { readonly code: string; readonly reason: string } | undefined,
    shown: readonly EventRecord[],
  ): void
  /** A delivery has ended. `why` is present unless it was delivered; its `reason` quotes nothing. */
  deliveryEnded?(
    delivery: DeliveryRecord,
    state: 'delivered' | 'skipped' | 'parked',
    why?: { readonly code: string; readonly reason: string },
    /** The run whose reply it is. */
    run?: RunRecord,
  ): void
  /** Half, four fifths or all of a budget is spent: each once a day. */
  budgetAlarmed?(alarm: BudgetAlarm): void
  /** The runs of a runner are held, or performed again. */
  runnerChanged?(state: RunnerState): void
  /** A channel is held, or sends again. */
  channelChanged?(state: ChannelState): void
  /** A channel was asked whether it works. */
  channelChecked?(check: {
    readonly channel: string
    readonly ok: boolean
    readonly code?: string | undefined
    readonly detail?: string | undefined
  }): void
}

/** `held`: its runs wait in their lanes until a probe succeeds. */
export type RunnerState =
  | { readonly runner: string; readonly state: 'open' }
  | { readonly runner: string; readonly state: 'held'; readonly code: string; readonly reason: string }

/** Much of a budget is spent. */
export interface BudgetAlarm {
  /** The key of the configuration: `endpoints.github.budget`. */
  readonly key: string
  readonly percent: 50 | 80 | 100
  /** The limit of which so much is spent. */
  readonly unit: 'usd' | 'tokens' | 'runs'
  readonly day: string
  /** Spending and limit: `4.02 of 5 USD`. */
  readonly spent: string
}

/** The part of pino that dispatch uses. Facts never hold a message, a prompt, a reply or a body. */
export interface DispatchLog {
  debug(facts: object, message?: string): void
  info(facts: object, message?: string): void
  warn(facts: object, message?: string): void
  error(facts: object, message?: string): void
}
