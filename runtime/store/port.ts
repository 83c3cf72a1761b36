/**
 * The store's port: the wall between accepting and doing.
 *
 * The store owns durability, claiming, lanes, due times and fencing; dispatch owns meaning (backoff, stages,
 * what a heartbeat is). Nothing here is synchronous, save what is answered from memory.
 */

import type {
  DeliveryRecord,
  EventRecord,
  Id,
  JoinedRequest,
  RequestRecord,
  Route,
  RunRecord,
  SessionMessage,
  SessionSummary,
  Spent,
  SpentToday,
} from './records.ts'

export * from './records.ts'

export type TaskKind = 'run' | 'heartbeat' | 'delivery' | 'upkeep'

export interface Store {
  /**
   * Resolves after the commit that holds all of the entry. Concurrent calls share commits. An entry that is
   * sent again, because its answer was lost, is answered like the first time and changes nothing. Where all
   * of its actions were seen before, the request is kept with the outcome `duplicate` and their ids.
   * A commit that takes over five seconds rejects with `STORE_UNAVAILABLE` and may still happen: the record of the
   * request then says that its sender was answered 503.
   * @throws StoreError
   */
  accept(entry: Entry): Promise<Acceptance>
  /**
   * A request that made no action: refused ones and handshakes, which anybody can send, go to a bounded ring, the others to
   * disk. No reply waits for it. Of those that caused nothing, the newest of each outcome are kept, as `mostWithoutEffect`
   * says, and the newest bodies, as `mostBodyBytes` says.
   */
  note(request: RequestRecord): void
  /** Claims due tasks and performs them, at most `concurrency` at a time. Called once per kind. */
  work(options: WorkOptions): WorkerPool
  command(command: Command): Promise<CommandResult>
  /**
   * Other limits than those that it was opened with, for whatever is asked from now on. Over a lower `backlog` nothing
   * is accepted and nothing is thrown away; a shorter `keepMs` is acted upon at once, in slices. The last call counts.
   */
  configure(limits: StoreLimits): void
  /** Own connection: a long list never delays a commit. */
  readonly read: Reader
  /**
   * Committed changes from this call on; `after` is an opaque cursor of an earlier change, and what is still
   * remembered of the time since then comes first. A listener that must not miss anything subscribes, then
   * reads. Ends with the signal.
   */
  changes(options: { after?: string; signal: AbortSignal }): AsyncIterable<Change>
  /** From memory. */
  health(): Health
  /**
   * Whether a commit has been under way for so long that the store does not wait for it: Node.js waits for its thread, so
   * that only a signal ends the process.
   */
  isStuck(): boolean
  /** Commits what was handed in, then lets go of the data. Where a commit hangs it resolves without that; see `isStuck`. */
  close(): Promise<void>
}

/** One request with what it decided; committed whole or not at all. */
export interface Entry {
  readonly request: RequestRecord
  readonly actions: readonly NewAction[]
}

export type NewAction = (
  | {
      readonly type: 'run'
      readonly record: RunRecord
      readonly join?: Join
      /** `reject`: where a run of its lane is queued or under way, it ends as `cancelled` with `BUSY`. Default: `queue`. */
      readonly busy?: 'queue' | 'reject'
    }
  | { readonly type: 'event'; readonly record: EventRecord }
) & {
  readonly dedupe?: Dedupe
  readonly tasks: readonly NewTask[]
}

/**
 * Becomes part of the newest run with the same key, if that one's task was never claimed: its task is then due at
 * `dueAt`, or at the run's own `coalesce.deadline` if that is sooner. Else it is a run of its own, to which later
 * ones may be joined. Decided after `dedupe` and before `busy`.
 */
export interface Join {
  /** Equals the record's `coalesce.key`. */
  readonly key: string
  readonly dueAt: number
  /** Whether earlier requests' contents are kept beside the newest one's. */
  readonly keep: 'latest' | 'all'
}

/** Seen before `until` under one scope and key: a duplicate; with another body digest: a conflict. */
export interface Dedupe {
  readonly scope: string
  readonly key: string
  readonly bodyDigest?: string
  readonly until: number
}

export interface Acceptance {
  readonly actions: readonly (
    | { readonly outcome: 'accepted'; readonly id: Id }
    /** It is part of the run `id`. The request's record names that run. */
    | { readonly outcome: 'joined'; readonly id: Id }
    /** It is on record as cancelled, and will not be performed. */
    | { readonly outcome: 'busy'; readonly id: Id }
    /** `original` is the action seen first, `request` the request that brought it. */
    | { readonly outcome: 'duplicate' | 'conflict'; readonly original: Id; readonly request: Id }
  )[]
}

/**
 * One thing to do later. Upsert by `key`: an unclaimed task takes the earliest due time; one that waits for
 * `again` keeps its time, so that new work never cuts a backoff short; one that is claimed is armed again
 * once, when its claim settles as done.
 */
export interface NewTask {
  readonly key: string
  readonly kind: TaskKind
  /** Tasks of one lane are claimed in order, one at a time. Absent: no order. */
  readonly lane?: string
  readonly dueAt: number
  /** The record it is about. */
  readonly subject?: Id
  /** Tasks of one pool may be limited in number. Absent: only the workerPool's own limit holds. */
  readonly pool?: string
}

export interface WorkOptions {
  readonly kinds: readonly TaskKind[]
  readonly concurrency: number
  /** Pool -> how many of its tasks are performed at one time; a pool that is not named is not limited. */
  readonly pools?: Readonly<Record<string, number>>
  /** Must not throw; a throw is settled as `again` in 5 s, uncounted, and reported through `onFault`. */
  perform(claim: Claim): Promise<Settlement>
  onFault?(error: unknown, task: ClaimedTask): void
}

export interface WorkerPool {
  /**
   * Another `concurrency`, and other pools; without `pools` theirs stay as they are. What is being performed goes on, and nothing new is claimed while it is that many or more.
   * Resolves when it holds; never rejects, as nothing has to be written for it.
   */
  resize(concurrency: number, pools?: Readonly<Record<string, number>>): Promise<void>
  /** Stops claiming, waits for what is being performed; after `graceMs` aborts the leases and settles them as `again`. */
  drain(graceMs: number): Promise<void>
}

export interface ClaimedTask extends NewTask {
  /** 1 for the first; grows when a settlement counts. */
  readonly attempt: number
  /** How often it was claimed; more than attempts and uncounted settlements explain: a process died holding it. */
  readonly claims: number
  /** True when an earlier claim never settled: the process that held it died. */
  readonly interrupted: boolean
}

/** A leased task. At most one claim per lane is open; a lane whose head waits for `again` stays closed. */
export interface Claim {
  readonly task: ClaimedTask
  /** Aborted when the lease is lost, or drain's grace is over. */
  readonly lease: AbortSignal
  /** Aborted when a command cancels the run. It still settles. */
  readonly cancel: AbortSignal
  /** What perform needs, in one read. */
  load(): Promise<Work>
  /** One fenced transaction. @throws StoreError `LEASE_LOST`, having done nothing */
  checkpoint(effects: Effects): Promise<void>
}

/** What a task is about: the fields that its kind needs. */
export interface Work {
  readonly run?: RunRecord
  readonly delivery?: DeliveryRecord
  /** For runs: the session's history, oldest first, bounded by `historyMessages` of the store's options. */
  readonly history: readonly SessionMessage[]
  /** For runs and heartbeats: what each runner keeps with the session, by the runner's name. */
  readonly runnerState?: Readonly<Record<string, string>>
  /** For runs with `coalesce`: the requests that were joined to it, oldest first, its own not among them; the newest 1,000. */
  readonly joined?: readonly JoinedRequest[]
  /** How many were joined in all. */
  readonly joinedCount?: number
  /** For runs with `coalesce`: runs of that key which were accepted in the hour before it, itself included. */
  readonly ofKey?: number
  /** For runs and heartbeats: what was spent today (UTC), by all and by the run's `budget`. */
  readonly spent?: { readonly day: string; readonly all: Spent; readonly budget?: Spent }
  /** For heartbeats: pending events of `main`, those with mode `now` first, then the oldest; at most 50, fewer where they are large. */
  readonly events: readonly EventRecord[]
  /** For heartbeats: how many are pending in all, and how many of those asked for `now`. */
  readonly pending: { readonly all: number; readonly now: number }
  readonly route?: Route
}

/** Committed together with the release of the lane and the choice of its next head. */
export type Settlement = { readonly effects: Effects } & (
  | { readonly done: true }
  /** Try again at a time. `counts: false`: not an attempt (rate limit, drain). */
  | { readonly again: number; readonly counts: boolean }
)

export interface Effects {
  /** Changed fields of an existing run, or a whole record of a new one (heartbeats). */
  readonly run?: Partial<RunRecord> & { readonly id: Id }
  /** Appended once per session and turn, however often it is sent. */
  readonly append?: readonly {
    readonly session: string
    readonly turn: Id
    readonly messages: readonly SessionMessage[]
  }[]
  /** The turns of a session up to this one go, it included; the summary, if any, takes their place. */
  readonly compact?: {
    readonly session: string
    readonly through: Id
    readonly summary?: { readonly turn: Id; readonly messages: readonly SessionMessage[] }
  }
  /** What a runner keeps with a session; without `state` it goes. */
  readonly runnerState?: { readonly session: string; readonly runner: string; readonly state?: string }
  /** Added to what was spent on a day (UTC, `2026-01-31`), by all and by the policy `budget`. */
  readonly spend?: {
    readonly day: string
    readonly budget?: string
    readonly runs: number
    readonly tokens: number
    /** Whose exhaustion was told. */
    readonly told?: readonly ('all' | 'budget')[]
  }
  /** Events shown to a turn that succeeded, by id: commit order is not id order in a cluster. */
  readonly consume?: { readonly by: Id; readonly at: number; readonly events: readonly Id[] }
  readonly events?: readonly EventRecord[]
  readonly deliveries?: readonly DeliveryRecord[]
  /** Changed fields of an existing delivery. */
  readonly delivery?: Partial<DeliveryRecord> & { readonly id: Id }
  /** After all of the above: the run is at `delivered`, unless one of its deliveries is pending or parked. */
  readonly delivered?: { readonly run: Id; readonly at: number }
  readonly tasks?: readonly NewTask[]
}

export type Command =
  | { readonly type: 'set-route'; readonly route: Route }
  /** The configured first route: taken only while none was set by hand. */
  | { readonly type: 'offer-route'; readonly route: Route | undefined }
  /** Arms a task from outside a claim (the periodic heartbeat). */
  | { readonly type: 'schedule'; readonly task: NewTask }
  /** Brings forward the next try of a task that failed; nothing where it does not wait for one. */
  | { readonly type: 'expedite'; readonly task: string; readonly dueAt: number }
  /**
   * Ends a run: a queued or parked one at once, as `cancelled` with `CANCELLED`; of a running one `cancelRequestedAt`
   * is set and its claim told. Not one whose turn is over.
   */
  | { readonly type: 'cancel'; readonly run: Id; readonly at: number }
  /** A parked run is queued again, its error gone. `task` is as at its acceptance. */
  | { readonly type: 'resume'; readonly run: Id; readonly at: number }
  /**
   * A delivery that no run makes, committed with its task; one that is sent again, because the answer was lost, changes
   * nothing. Over the backlog it throws `BACKLOG`, like `accept`.
   */
  | { readonly type: 'send'; readonly delivery: DeliveryRecord; readonly task: NewTask }
  /**
   * A parked delivery is pending again, as if it had just been made, save for the receipts that it has. `to`: where it
   * goes from now on; refused where it went somewhere else before and a part of it has arrived there.
   */
  | {
      readonly type: 'replay-delivery'
      readonly delivery: Id
      readonly at: number
      readonly to: { readonly channel: string; readonly to: string }
      readonly task: NewTask
    }

export interface CommandResult {
  readonly ok: boolean
  /** Why not, in one sentence. */
  readonly reason?: string
  /** `unknown`: there is no such record. `state`: its state does not allow it. */
  readonly why?: 'unknown' | 'state'
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Opaque; absent on the last page. */
  readonly next?: string
}

export interface PageOptions {
  /** 1 to 500; default 50. A page of large records may end before it, with a `next`. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly cursor?: string
}

/** Lists are newest first. */
export interface Reader {
  requests(options?: PageOptions & { outcome?: string; endpoint?: string }): Promise<Page<RequestRecord>>
  request(id: Id): Promise<RequestRecord | undefined>
  /**
   * The newest requests whose bodies are kept, whole. `limit`: 1 to 1,000, default 100; fewer where they are large (16 MiB
   * at most, the first one aside).
   */
  recentBodies(options?: { readonly limit?: number }): Promise<readonly RequestRecord[]>
  runs(
    options?: PageOptions & { state?: string; sessionKey?: string; kind?: string },
  ): Promise<Page<RunRecord>>
  run(id: Id): Promise<RunRecord | undefined>
  events(options?: PageOptions & { state?: string }): Promise<Page<EventRecord>>
  event(id: Id): Promise<EventRecord | undefined>
  deliveries(options?: PageOptions & { state?: string; channel?: string }): Promise<Page<DeliveryRecord>>
  delivery(id: Id): Promise<DeliveryRecord | undefined>
  /** Its newest 1,000 messages, oldest first; fewer where they are large. */
  session(
    key: string,
  ): Promise<{ readonly key: string; readonly messages: readonly SessionMessage[] } | undefined>
  /** Newest first, by their last turn. */
  sessions(options?: PageOptions): Promise<Page<SessionSummary>>
  /** How many are pending, and how many parked, for each channel that has such. */
  openDeliveries(): Promise<readonly OpenDeliveries[]>
  route(): Promise<Route | undefined>
  /** Of the day (UTC) of now. */
  spent(): Promise<SpentToday>
}

export interface OpenDeliveries {
  readonly channel: string
  readonly pending: number
  readonly parked: number
}

export interface Change {
  readonly cursor: string
  readonly type: 'request' | 'run' | 'event' | 'delivery'
  readonly id: Id
  /** The outcome or state after the change. */
  readonly state: string
  /** For runs. */
  readonly stage?: string
}

export interface Health {
  /** False after a write failed, until one succeeds again; the store tries by itself about once a second. */
  readonly writable: boolean
  /** Runs and deliveries whose task has not settled as done. */
  readonly backlog: number
  /** True when `accept` would answer BACKLOG to an entry with actions. */
  readonly full: boolean
  /** Pending events, summaries of runs among them. */
  readonly events: number
  /** True when `accept` would answer BACKLOG to an entry that brings an event. */
  readonly fullOfEvents: boolean
  /** Why it is not writable, and what to do where a person can do something. For operators: it may name paths. */
  readonly reason?: string
  /** The same in a few words without paths, which anybody may read. Absent where the store has none. */
  readonly brief?: string
  /** Commits since the store was opened: concurrent calls share them. */
  readonly commits: number
}

/** What may change while the store is open. */
export interface StoreLimits {
  /** History older than this, and in a terminal state, may go. Milliseconds. */
  readonly keepMs: number
  /**
   * Most queued runs and unsent deliveries; over it `accept` throws `BACKLOG`. As many events may be pending; over that it
   * throws for an entry that brings one. What runs post and send themselves is counted, and never refused.
   */
  readonly backlog: number
  /** A session whose key was made up goes when its last turn is older than this. Milliseconds; absent: with `keepMs`. */
  readonly sessionIdleMs?: number
}

export interface StoreOptions extends StoreLimits {
  /** The folder of the embedded store, or the connection string of a server. */
  readonly location: string
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /**
   * Called at most once, when the store has stopped for good: whatever is asked of it from then on is refused with
   * `STORE_UNAVAILABLE`. Nothing in this process brings it back; what was committed is safe.
   */
  readonly onStopped?: (error: StoreError) => void
  /**
   * Called when the store stops and begins to be able to write: with its health. Default: nothing is done.
   */
  readonly onHealth?: (health: Health) => void
  /** Due times are waited for with it. Default: `setTimeout`, which does not keep the process alive. */
  readonly setTimer?: SetTimer
  /**
   * The store looks once a second with it whether its files are there and its commits end. Of its own, because such a look
   * is about real time. Default: as `setTimer`'s.
   */
  readonly setWatchTimer?: SetTimer
  /**
   * Most requests of each of the outcomes `ignored`, `skipped`, `duplicate` and `failed`: when one more comes, the oldest goes
   * before its time. Default: 100,000.
   */
  readonly mostWithoutEffect?: number
  /**
   * Most bytes of the bodies that are kept of all these together, with their headers: over it the oldest ones go, and the
   * requests stay without them. Default: 1 GiB.
   */
  readonly mostBodyBytes?: number
  /** Most messages of a session that `load` gives; older ones stay readable until they expire. */
  readonly historyMessages: number
}

/** Calls `run` once, `ms` milliseconds from now, unless the answered function is called before. */
export type SetTimer = (run: () => void, ms: number) => () => void

/** @throws StoreError `LOCKED`, `SCHEMA_NEWER`, `STORE_MISSING` or `STORE_UNAVAILABLE` */
export type OpenStore = (options: StoreOptions) => Promise<Store>

export type StoreErrorCode =
  /** This one call is at fault, whenever it is sent: an id used twice, a time that is no number. */
  | 'BAD_ENTRY'
  /** A list's cursor that no page answered. */
  | 'BAD_CURSOR'
  | 'STORE_FULL'
  | 'STORE_UNAVAILABLE'
  | 'BACKLOG'
  | 'DRAINING'
  | 'LEASE_LOST'
  | 'SCHEMA_NEWER'
  /** Other files tell of a store that is not there: an empty one is not begun in its place. */
  | 'STORE_MISSING'
  | 'LOCKED'

export class StoreError extends Error {
  readonly code: StoreErrorCode
  /** The message in a few words without paths, for anybody to read. */
  readonly brief: string | undefined

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions & { readonly brief?: string }) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
    this.brief = options?.brief
  }
}
