/** Defines what the routes of the admin surface need of the gateway. */

import type { CurrentLive, Mask, Reloader, Timers } from '@reveille/engine'
import type { AdminDeliveries, Dispatch } from '../dispatch/index.ts'
import type { DiskArchive } from '../generations/index.ts'
import type { HookLog } from '../http/index.ts'
import type { Issues } from '../issues/index.ts'
import type { Counters } from '../observe/counters.ts'
import type { DryRun } from '../reload/dry-run.ts'
import type { ServedLastGood } from '../reload/last-good.ts'
import type { RequestDryRuns } from '../reload/request-dry-runs.ts'
import type { ReplayJobs, Replays } from '../replay/index.ts'
import type { SourceState } from '../sources/index.ts'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import type { Answer } from './routes/client.ts'

export interface AdminOptions {
  readonly current: CurrentLive
  readonly store: Pick<Store, 'read' | 'command' | 'health' | 'changes' | 'cluster'>
  readonly mintId: MintId
  readonly log: Pick<HookLog, 'info' | 'error'>
  /** The name of this process, where several share a store. */
  readonly node?: string
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly timers: Timers
  /** Progress of a run's turn. Undefined if none is under way in this process. */
  readonly progressOf: (id: Id) => object | undefined
  readonly dispatch: Pick<Dispatch, 'heartbeat' | 'channels' | 'tryHeldRunners'>
  /** The states of the configured sources. */
  readonly sources: () => readonly SourceState[]
  /** The way in which changes of the files are noticed. */
  readonly files: () => Answer<'readStatus'>['files']
  /** Files that were broken at the start, and what serves in their place. */
  readonly lastGood: () => ServedLastGood | undefined
  /** The address at which a tunnel is reached from the internet: `https://words.trycloudflare.com`. */
  readonly publicUrl: () => string | undefined
  /** Counts since the start. */
  readonly counters: Pick<Counters, 'read' | 'series' | 'countsByEndpoint' | 'hitsOf'>
  /** Number of log lines dropped since the start. */
  readonly droppedLogLines: () => number
  readonly deliveries: AdminDeliveries
  /** True if a channel of that name exists, configured or not. */
  readonly isChannel: (name: string) => boolean
  readonly reloader: Pick<Reloader, 'reload' | 'rollback' | 'subscribe'>
  readonly archive: Pick<DiskArchive, 'list' | 'rollback' | 'saved' | 'read'>
  /** Returns the text of a file of the configuration as it may be shown. */
  readonly withoutSecrets: (file: string, text: string) => Promise<string>
  /** The issues, their changes by operators, and the endpoints from which requests are expected. */
  readonly issues: Pick<
    Issues,
    'list' | 'resolve' | 'mute' | 'reopen' | 'tokenGuessed' | 'seenAt' | 'silences'
  >
  readonly isDraining: () => boolean
  /** The folder of the console's files. Default: where they are shipped, or built. */
  readonly consoleFolder?: string
  /** Says what would come of a request; nothing is stored. */
  readonly requestDryRuns: Omit<RequestDryRuns, 'close'>
  /** Says what a reload would change for the last stored requests; nothing goes live. */
  readonly dryRun: DryRun
  readonly replays: Replays
  readonly replayJobs: Pick<ReplayJobs, 'choose' | 'begin'>
  /** Hides known secrets. Every answer passes it on its way out, so that no handler has to. */
  readonly mask: Pick<Mask, 'text' | 'json'>
}
