/** Names what the parts of the writer share: one connection, and everything on it that several of them work with. */

import type { DatabaseSync } from 'node:sqlite'
import type { StoreLimits, StoreOptions } from '../port.ts'
import type { Bounds } from './records/bounds.ts'
import type { NoteChange } from './records/change-list.ts'
import type { Coalescing } from './records/coalescing.ts'
import type { Counters } from './records/counters.ts'
import type { Deliveries } from './records/deliveries.ts'
import type { Events } from './records/events.ts'
import type { Histories } from './records/histories.ts'
import type { Lookups } from './records/lookups.ts'
import type { Requests } from './records/requests.ts'
import type { Runs } from './records/runs.ts'
import type { Schedule } from './schedule/schedule.ts'

export interface Parts {
  readonly db: DatabaseSync
  readonly counters: Counters
  readonly bounds: Bounds
  readonly schedule: Schedule
  readonly requests: Requests
  readonly lookups: Lookups
  readonly runs: Runs
  readonly events: Events
  readonly deliveries: Deliveries
  readonly histories: Histories
  readonly coalescing: Coalescing
  readonly changed: NoteChange
  /** They are read whenever they matter, because a reload changes them. */
  readonly limits: StoreLimits & Pick<StoreOptions, 'mostWithoutEffect'>
}
