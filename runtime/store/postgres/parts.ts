/** Names what commands and retention work with inside a transaction. */

import type { Change, EventRecord, Id, NewTask, TaskKind } from '../port.ts'
import type { Query, Transaction } from './connection.ts'

export type { Query }

/** What the store counts, and what one transaction has changed of it. */
export type Counted =
  | 'backlog'
  | 'pending'
  | 'pendingNow'
  | 'bodyBytes'
  | 'ignored'
  | 'skipped'
  | 'duplicate'
  | 'failed'
  | 'refused'

/** A task that may be claimed once it is due. A task without a pool is in the pool with the empty name. */
export interface Alarm {
  readonly kind: TaskKind
  readonly pool: string
  readonly due_at: number
  readonly seq: number
}

/** One transaction with what takes effect in memory once it is committed, and nothing of it otherwise. */
export interface Changing {
  readonly query: Query
  /** Sends a statement whose answer is not needed. */
  readonly send: Transaction['send']
  readonly now: number
  /** The node that runs the transaction. */
  readonly node: Id
  /** Notes a change for the listeners. */
  changed(type: Change['type'], id: string, state: string, stage?: string): void
  counted(what: Counted, by: number): void
  /** The holder of the task's claim hears that its run is cancelled, on whatever node it is. */
  cancelled(task: string): void
  /** @throws StoreError `BACKLOG` */
  refuseOverBacklog(): void
  /** Notes alarms that were set, so that this node claims their tasks when they are due. */
  armed(alarms: readonly Alarm[]): void
  /** Does something once the transaction is committed. */
  afterCommit(run: () => void): void
  insertEvents(events: readonly EventRecord[]): Promise<void>
  readonly schedule: {
    add(tasks: readonly NewTask[]): Promise<void>
    expedite(key: string, dueAt: number): Promise<void>
    /** Locks tasks until the end of the transaction. One that is not in the answer is gone. */
    lock(keys: readonly string[]): Promise<ReadonlyMap<string, 'open' | 'claimed'>>
    /** Deletes a task that was locked and found open. */
    remove(key: string): Promise<void>
    isOccupied(lane: string): Promise<boolean>
  }
}
