/**
 * The store's port: the wall between accepting and doing.
 *
 * The store is responsible for durability, claims, lanes, due times and lease tokens. Dispatch is responsible for meaning:
 * backoff, stages, what a heartbeat is. Nothing here is synchronous, except what is answered from memory.
 */

import type { database, node, ValueOf } from './record-schemas.ts'
import type {
  AlertWay,
  Cost,
  CostGroup,
  DeliveryRecord,
  EventRecord,
  Id,
  IssueRecord,
  JoinedRequest,
  NextStep,
  ReplayJob,
  ReplayJobItem,
  RequestRecord,
  Route,
  RunRecord,
  SessionMessage,
  SessionSummary,
  SetRoute,
  Spent,
  SpentToday,
} from './records.ts'

export * from './records.ts'

export type TaskKind = 'run' | 'heartbeat' | 'delivery'

export interface Store {
  /**
   * Resolves after the commit that holds all of the entry. Concurrent calls share commits. An entry that is
   * sent again, because its answer was lost, is answered like the first time and changes nothing. If all
   * of its actions were seen before, the request is stored with the outcome `duplicate` and their ids.
   * A commit that takes over five seconds rejects with `STORE_UNAVAILABLE` and may still happen: the record of the
   * request then says that its sender was answered 503.
   * @throws StoreError
   */
  accept(entry: Entry): Promise<Acceptance>
  /**
   * Stores a request that made no action. No reply waits for it. Refused requests and handshakes, which need no credentials,
   * go to a bounded ring in memory; the others go to disk, and so does a refused request that is accepted without actions. Of requests without effect the newest of each outcome are
   * stored (`maxWithoutEffect`). Under a flood some are dropped: what must not be lost is accepted, without actions.
   */
  note(request: RequestRecord): void
  /** Claims due tasks and performs them, at most `concurrency` at a time. Dispatch calls it once for each kind. */
  work(options: WorkOptions): WorkerPool
  command(command: Command): Promise<CommandResult>
  /**
   * Replaces the limits that the store was opened with. Over a lower `backlog` nothing is accepted and nothing is thrown
   * away. A shorter `keepMs` deletes at once, in slices. The last call counts.
   */
  configure(limits: StoreLimits): void
  /** Reads on a connection of its own, so that a long list never delays a commit. */
  readonly read: Reader
  /**
   * Streams committed changes from this call on, until the signal ends it. A listener that falls far behind misses some.
   */
  changes(options: { signal: AbortSignal }): AsyncIterable<Change>
  /** The time of the newest id that was on disk when the store was opened. New ids must be greater. 0 for an empty store. */
  readonly newestAt: number
  /** Unfinished work found when the store was opened. Without any, nothing has to be read at the start, unless other nodes work too. */
  readonly leftOpen: {
    readonly replayJobs: boolean
    /** Open and muted issues. */
    readonly issues: boolean
  }
  /** The other processes that work on the same data, and what only one of them does. */
  readonly cluster: Cluster
  /**
   * Milliseconds since the Unix epoch, by the clock of all who share the data: the database's, and for the embedded store this process's. What
   * is written at one node is compared with it at another, so that everything that is stored has its times from here.
   */
  readonly now: () => number
  /** Answers from memory. */
  health(): Health
  /**
   * Returns whether a commit has taken so long that the store does not wait for it. Node.js waits for its thread, so only a
   * signal ends the process then.
   */
  isStuck(): boolean
  /** Commits what was handed in, and releases the data. If a commit hangs it resolves without it; see `isStuck`. */
  close(): Promise<void>
}

/** One request with the actions that it caused. It is committed whole or not at all. */
export interface Entry {
  readonly request: RequestRecord
  readonly actions: readonly NewAction[]
}

export type NewAction = (
  | {
      readonly type: 'run'
      readonly record: RunRecord
      readonly join?: Join
      /** `reject`: if a run of its lane is queued or under way, the new run ends as `cancelled` with `BUSY`. Default: `queue`. */
      readonly busy?: 'queue' | 'reject'
    }
  | { readonly type: 'event'; readonly record: EventRecord }
) & {
  readonly dedupe?: Dedupe
  readonly tasks: readonly NewTask[]
}

/**
 * Coalesces an action: it joins the newest run with the same key if that run's task was never claimed. The task is then due
 * at `dueAt`, or at the run's `coalesce.deadline` if that is sooner. Otherwise the action becomes a run of its own, which
 * later ones may join. This is decided after `dedupe` and before `busy`.
 */
export interface Join {
  /** Equals the record's `coalesce.key`. */
  readonly key: string
  readonly dueAt: number
  /** `all` keeps the contents of earlier requests beside the newest one's. */
  readonly keep: 'latest' | 'all'
}

/** An action with the scope and key of an earlier one is a duplicate until `until`. */
export interface Dedupe {
  readonly scope: string
  readonly key: string
  /** By which a duplicate with another body is known. */
  readonly bodyDigest?: string
  /** The sender chose the key, so that another body under it is a conflict. */
  readonly isGiven?: true
  readonly until: number
}

export interface Acceptance {
  readonly actions: readonly (
    | { readonly outcome: 'accepted'; readonly id: Id }
    /** The action is part of the run `id`, which the request's record names. */
    | { readonly outcome: 'joined'; readonly id: Id }
    /** The run is recorded as cancelled, and will not be performed. */
    | { readonly outcome: 'busy'; readonly id: Id }
    /** `original` is the action seen first, `request` the request that contained it. */
    | {
        readonly outcome: 'duplicate' | 'conflict'
        readonly original: Id
        readonly request: Id
        /** The body is another one than that of the original. Absent: it is the same, or not known. */
        readonly hasOtherBody?: true
      }
  )[]
}

/**
 * One thing to do later. Tasks are upserted by `key`: an unclaimed task gets the earliest due time. A task that waits for
 * `again` keeps its time, so that new work never cuts a backoff short. A claimed task is scheduled again when its claim
 * settles as done.
 */
export interface NewTask {
  readonly key: string
  readonly kind: TaskKind
  /** Tasks of one lane are claimed in order, one at a time. Without a lane they have no order. */
  readonly lane?: string
  readonly dueAt: number
  /** The record that the task is about. */
  readonly subject?: Id
  /** The number of tasks of one pool may be limited. Without a pool only the worker pool's `concurrency` holds. */
  readonly pool?: string
}

export interface WorkOptions {
  readonly kinds: readonly TaskKind[]
  readonly concurrency: number
  /** Maximum number of tasks of each pool performed at one time. A pool that is not named is not limited. */
  readonly pools?: Readonly<Record<string, number>>
  /** True if the tasks of a pool are performed by one node at a time, so that a rate limit of this node holds for all. Default: false. */
  readonly owned?: boolean
  /** Should not throw: a throw is reported through `onFault` and settled as `again` in 5 s, not counted as an attempt. */
  perform(claim: Claim): Promise<Settlement>
  onFault?(error: unknown, task: ClaimedTask): void
}

export interface WorkerPool {
  /**
   * Changes `concurrency` and, if they are given, the limits of pools. Open claims go on, and nothing is claimed while there
   * are as many or more. Resolves when the limits hold. Never rejects, because nothing has to be written for it.
   */
  resize(concurrency: number, pools?: Readonly<Record<string, number>>): Promise<void>
  /** Stops claiming and waits for open claims. After `graceMs` it aborts their leases and settles them as `again`. */
  drain(graceMs: number): Promise<void>
}

export interface ClaimedTask extends NewTask {
  /** The number of this attempt, from 1. It grows when a settlement counts. */
  readonly attempt: number
  /** Number of times that the task was claimed. */
  readonly claims: number
  /** True if an earlier claim never settled, because the process that held it died. */
  readonly interrupted: boolean
}

/** A leased task. A lane has at most one open claim. While its head waits for `again`, nothing of it is claimed. */
export interface Claim {
  readonly task: ClaimedTask
  /** Aborted when the lease is lost, or the grace of a drain is over. */
  readonly lease: AbortSignal
  /** Aborted when a command cancels the run. The claim still settles. */
  readonly cancel: AbortSignal
  /** Loads everything that `perform` needs, in one read. */
  load(): Promise<Work>
  /**
   * Resolves at once while it is certain that no other node has taken this claim over; otherwise as soon as it is. It is awaited right
   * before anything that must not happen twice: a turn, a message, a call of a source. @throws StoreError `LEASE_LOST`
   */
  confirm(): Promise<void>
  /** Commits effects in one transaction under the claim's lease token. @throws StoreError `LEASE_LOST`, and changes nothing */
  checkpoint(effects: Effects): Promise<void>
}

/** The subject of a task. Each kind of task has the fields that it needs. */
export interface Work {
  readonly run?: RunRecord
  readonly delivery?: DeliveryRecord
  /** For runs: the session's history, oldest first, bounded by `historyMessages` of the store's options. */
  readonly history: readonly SessionMessage[]
  /** For runs and heartbeats: the state that each runner stored with the session, by the runner's name. */
  readonly runnerState?: Readonly<Record<string, string>>
  /** For runs with `coalesce`: the newest 1,000 requests that joined it, oldest first, without its own. */
  readonly joined?: readonly JoinedRequest[]
  /** Total number of requests that joined it. */
  readonly joinedCount?: number
  /** For runs with `coalesce`: how many runs of its key were accepted in the hour before it, itself included. */
  readonly ofKey?: number
  /** For runs and heartbeats: what was spent today (UTC), by all and by the run's `budget`. */
  readonly spent?: { readonly day: string; readonly all: Spent; readonly budget?: Spent }
  /** For heartbeats: up to 50 pending events of `main`, those with mode `now` first, then the oldest. Fewer if they are large. */
  readonly events: readonly EventRecord[]
  /** For heartbeats: how many are pending in all, and how many of those asked for `now`. */
  readonly pending: { readonly all: number; readonly now: number }
  readonly route?: Route
}

/** The result of `perform`. It is committed together with the release of the lane and the choice of its next head. */
export type Settlement = { readonly effects: Effects } & (
  | { readonly done: true }
  /** The task is tried again at that time. `counts: false` says that this was no attempt (rate limit, drain). */
  | { readonly again: number; readonly counts: boolean }
)

export interface Effects {
  /** Changed fields of an existing run, or the whole record of a new one (heartbeats). */
  readonly run?: Partial<RunRecord> & { readonly id: Id }
  /** Messages of turns. Each is appended once per session and turn, however often it is sent. */
  readonly append?: readonly {
    readonly session: string
    readonly turn: Id
    readonly messages: readonly SessionMessage[]
  }[]
  /** Deletes the turns of a session up to and including this one. The summary, if any, takes their place. */
  readonly compact?: {
    readonly session: string
    readonly through: Id
    readonly summary?: { readonly turn: Id; readonly messages: readonly SessionMessage[] }
  }
  /** Stores a runner's state with a session, or deletes it if there is no `state`. */
  readonly runnerState?: { readonly session: string; readonly runner: string; readonly state?: string }
  /** Adds to what was spent on a day (UTC, `2026-01-31`), by all runs and by the policy `budget`. */
  readonly spend?: {
    readonly day: string
    readonly budget?: string
    readonly runs: number
    readonly tokens: number
    /** US dollars. Absent if it is not known what the turns cost. */
    readonly usd?: number
    /** Names under which the cost is listed, beside the day; none for a session whose key was generated. */
    readonly labels?: { readonly mapping?: string; readonly model?: string; readonly session?: string }
    /** Budgets whose exhaustion was reported to the main session. */
    readonly reported?: readonly ('all' | 'budget')[]
  }
  /** Events that were shown to a turn that succeeded. They are named by id: commit order is not id order in a cluster. */
  readonly consume?: { readonly by: Id; readonly at: number; readonly events: readonly Id[] }
  readonly events?: readonly EventRecord[]
  readonly deliveries?: readonly DeliveryRecord[]
  /** Changed fields of an existing delivery. */
  readonly delivery?: Partial<DeliveryRecord> & { readonly id: Id }
  /** Applied after all of the above: the run is at `delivered`, unless one of its deliveries is pending or parked. */
  readonly delivered?: { readonly run: Id; readonly at: number }
  readonly tasks?: readonly NewTask[]
}

/** `by` of a command is the name of the operator's token. The records that the command changes keep it. */
export type Command =
  | { readonly type: 'set-route'; readonly route: Route; readonly by?: string }
  /** Sets the configured first route, unless an operator has set one. */
  | { readonly type: 'offer-route'; readonly route: Route | undefined }
  /** Schedules a task from outside a claim (the periodic heartbeat). */
  | { readonly type: 'schedule'; readonly task: NewTask }
  /** Brings forward the next try of a task that failed. Does nothing for a task that waits for no next try. */
  | { readonly type: 'expedite'; readonly task: string; readonly dueAt: number }
  /**
   * Ends a run. A queued or parked run ends at once, as `cancelled` with `CANCELLED`. A running one gets
   * `cancelRequestedAt`, and its claim's cancel signal is aborted. A run whose turn is over is refused.
   */
  | { readonly type: 'cancel'; readonly run: Id; readonly at: number; readonly by?: string }
  /** Queues a parked run again, without its error. */
  | { readonly type: 'resume'; readonly run: Id; readonly at: number; readonly by?: string }
  /** Queues a run again that failed or timed out, from its stored prompt, as if it were new except for its `attempts` and `retries`. */
  | { readonly type: 'retry'; readonly run: Id; readonly at: number; readonly by?: string }
  /**
   * Commits a delivery that no run makes, with its task. A delivery that is sent again, because the answer was lost, changes
   * nothing. Over the backlog it throws `BACKLOG`, like `accept`.
   */
  | { readonly type: 'send'; readonly delivery: DeliveryRecord; readonly task: NewTask }
  /**
   * Makes a parked delivery pending again, as if it were new except for its receipts. `to` is where it goes from now on. A
   * new destination is refused if a part of the delivery has arrived at the old one.
   */
  | {
      readonly type: 'replay-delivery'
      readonly delivery: Id
      readonly at: number
      readonly to: { readonly channel: string; readonly to: string }
      readonly task: NewTask
      readonly by?: string
    }
  /**
   * Erases the contents of at most 500 requests, and keeps their records with `forgottenAt`: body, head and trace; the texts of their
   * events, of their runs and of what those replied; the turns of sessions and the heartbeats that showed any of it. A run that
   * several requests became is erased as a whole. A request is refused while any of this is queued, under way or unsent. Events
   * that are pending are consumed.
   */
  | { readonly type: 'forget'; readonly requests: readonly Id[]; readonly at: number; readonly by?: string }
  /**
   * Begins a replay job or adds at most 1,000 items to it, each request once. While `more` items are to follow none is handed out.
   * If the process ends before the last call, the job is cancelled. Where another job that was not cancelled has the same `key` in its
   * options, nothing is begun, and `job` of the result names that job: of several orders at one moment one wins.
   */
  | {
      readonly type: 'job-begin'
      readonly job: Pick<ReplayJob, 'id' | 'filter' | 'options' | 'createdAt' | 'by'>
      readonly items: readonly Id[]
      readonly more?: true
    }
  /**
   * Answers the next `items` of a running job: first those that have a replay and are not settled, as after a restart, then new
   * ones, to which the ids of `mint` are given in order. No item gets another id later.
   */
  | { readonly type: 'job-next'; readonly job: Id; readonly limit: number; readonly mint: readonly Id[] }
  /** Notes how items ended. An item that is settled stays as it is. The job is done when none is left. */
  | {
      readonly type: 'job-settle'
      readonly job: Id
      readonly at: number
      readonly items: readonly {
        readonly request: Id
        readonly state: 'done' | 'failed' | 'skipped'
        readonly reason?: string
      }[]
    }
  /** Hands out no further items. Those that were handed out can still be settled. */
  | { readonly type: 'job-cancel'; readonly job: Id; readonly at: number }
  /** Ends a sign-in of the console before its time, which is `until`. */
  | { readonly type: 'sign-out'; readonly signIn: string; readonly until: number }
  /** Changes issues, all of them or none. An issue that is unknown is refused alone. */
  | { readonly type: 'issues'; readonly at: number; readonly changes: readonly IssueChange[] }

/**
 * The first form counts a problem: it opens an issue, counts it up or opens a resolved one again; a muted one stays muted. Its
 * event is posted with it, at most once a day and not while it is muted. `mute` is until when, or null: permanently.
 */
export type IssueChange =
  | (Pick<IssueRecord, 'key' | 'code' | 'severity' | 'subject' | 'cause'> & {
      readonly next: NextStep
      readonly count: number
      /** When it happened last. Default: the time of the command */
      readonly last?: number
      readonly report?: { readonly event: EventRecord; readonly task?: NewTask; readonly day: string }
    })
  | { readonly key: string; readonly resolve: true }
  | { readonly key: string; readonly mute: number | null }
  | { readonly key: string; readonly reopen: true }
  /** Records the ways by which people know that it is open. */
  | { readonly key: string; readonly alerted: readonly AlertWay[] }

export interface CommandResult {
  readonly ok: boolean
  /** Reason for refusing the command, in one sentence. */
  readonly reason?: string
  /** `unknown`: there is no such record. `state`: its state does not allow the command. */
  readonly why?: 'unknown' | 'state'
  /** For commands about several things: how many of them were done, and which were not. */
  readonly done?: number
  readonly refused?: readonly { readonly id: string; readonly reason: string }[]
  /** For `job-begin`: the job that was begun before under the same key. */
  readonly job?: Id
  /** The items handed out by `job-next`. */
  readonly items?: readonly { readonly request: Id; readonly replay: Id }[]
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Opaque; absent on the last page. */
  readonly next?: string
}

export interface PageOptions {
  /** 1 to 500; default 50. A page of large records may have fewer, with a `next`. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly cursor?: string
}

/** Filters of a list of requests; all must match exactly. */
export interface RequestFilters {
  readonly outcome?: string
  readonly endpoint?: string
  readonly code?: string
  readonly mapping?: string
  readonly client?: string
  readonly deliveryId?: string
  readonly replayOf?: Id
  readonly generation?: number
  readonly generationDigest?: string
  readonly node?: string
  /** The earliest `receivedAt`. */
  readonly since?: number
  /** The first `receivedAt` that is too late. */
  readonly until?: number
}

/** A record that a pasted string names. The id of a session is its key, that of a generation its number. */
export interface FoundRecord {
  readonly kind: 'request' | 'run' | 'event' | 'delivery' | 'session' | 'generation'
  readonly id: string
}

/** Reads records. Lists are newest first. */
export interface Reader {
  requests(options?: PageOptions & RequestFilters): Promise<Page<RequestRecord>>
  request(id: Id): Promise<RequestRecord | undefined>
  /** The ids of all replays of these requests, in one question. */
  replaysOf(ids: readonly Id[]): Promise<readonly Id[]>
  /**
   * Returns the newest requests whose bodies are kept, whole. `limit`: 1 to 1,000, default 100. There are fewer if they are
   * large: 16 MiB at most, apart from the first one.
   */
  recentBodies(options?: { readonly limit?: number }): Promise<readonly RequestRecord[]>
  runs(
    options?: PageOptions & { state?: string; sessionKey?: string; kind?: string; endpoint?: string },
  ): Promise<Page<RunRecord>>
  run(id: Id): Promise<RunRecord | undefined>
  events(options?: PageOptions & { state?: string }): Promise<Page<EventRecord>>
  event(id: Id): Promise<EventRecord | undefined>
  deliveries(options?: PageOptions & { state?: string; channel?: string }): Promise<Page<DeliveryRecord>>
  delivery(id: Id): Promise<DeliveryRecord | undefined>
  /** Returns the session's newest 1,000 messages, oldest first; fewer if they are large. */
  session(
    key: string,
  ): Promise<{ readonly key: string; readonly messages: readonly SessionMessage[] } | undefined>
  /** Lists sessions by their last turn, newest first. */
  sessions(options?: PageOptions): Promise<Page<SessionSummary>>
  /** Returns how many deliveries are pending and parked, for each channel that has any. */
  openDeliveries(): Promise<readonly OpenDeliveries[]>
  route(): Promise<SetRoute | undefined>
  /** Returns what was spent today (UTC). */
  spent(): Promise<SpentToday>
  /**
   * Lists what the turns of some days (UTC) have cost, the dearest first, or by `day` the newest first. Both days are included.
   * Costs by session are kept as long as runs (`keepMs`), all others for 400 days.
   */
  costs(options: PageOptions & CostOptions): Promise<Page<Cost>>
  /** Counts the runs that wait, are under way or are parked. */
  openRuns(): Promise<OpenRuns>
  /**
   * Finds the records that a string names: a whole id, or its last four or more characters among the newest 500 of each kind; a sender's id of
   * a delivery; a session key; the number of a generation, or its digest. At most 20, whole ids first.
   */
  find(text: string): Promise<readonly FoundRecord[]>
  jobs(options?: PageOptions & { readonly state?: string }): Promise<Page<ReplayJob>>
  job(id: Id): Promise<ReplayJob | undefined>
  /** Lists the items of a job in the order in which they were added, or the last ones first. */
  jobItems(
    id: Id,
    options?: PageOptions & { readonly state?: string; readonly newestFirst?: boolean },
  ): Promise<Page<ReplayJobItem>>
  /** Lists issues: the open ones, the muted ones, both with the worst first, and the resolved ones; of equals, the newest first. */
  issues(options?: PageOptions & { readonly state?: string }): Promise<Page<IssueRecord>>
  issue(key: string): Promise<IssueRecord | undefined>
  /** True if a sign-in was ended before it expired. */
  isSignedOut(signInId: string): Promise<boolean>
}

export interface CostOptions {
  readonly by: CostGroup
  /** `2026-01-31`. */
  readonly since?: string
  readonly until?: string
}

export interface OpenRuns {
  readonly queued: number
  readonly running: number
  readonly parked: number
}

export interface OpenDeliveries {
  readonly channel: string
  readonly pending: number
  readonly parked: number
}

export interface Change {
  readonly type: 'request' | 'run' | 'event' | 'delivery' | 'issue'
  /** Of an issue its key. */
  readonly id: Id
  /** The outcome or state after the change. */
  readonly state: string
  /** The stage after the change, for runs. */
  readonly stage?: string
}

/**
 * `ingress` accepts requests and answers the admin surface; `all` performs what was accepted besides.
 */
export type NodeRole = 'all' | 'ingress'

/** One process that works on the data. */
export type NodeRecord = ValueOf<typeof node>

/** The database's state, as an operator has to know it. */
export type DatabaseState = ValueOf<typeof database>

/** Small strings that sources keep from one run to the next. */
export interface SourceValues {
  read(source: string, name: string): Promise<string | undefined>
  write(source: string, name: string, value: string): Promise<void>
}

/**
 * Work that runs on one node at a time. `sources`: sources and the periodic heartbeat. `maintenance`: retention, issue checks, replay
 * jobs.
 */
export type LeaderDuty = 'sources' | 'maintenance'

export interface Leadership {
  /** Aborted before another node can begin, unless this process was held up; `hold` says which. */
  readonly signal: AbortSignal
  /** As that of a claim. @throws StoreError `LEASE_LOST` */
  confirm(): Promise<void>
}

export interface Cluster {
  /** The id of this node. */
  readonly node: Id
  /** True if other nodes may work on the same data. */
  readonly isShared: boolean
  /** Lists all nodes that are alive, the oldest first. */
  nodes(): Promise<readonly NodeRecord[]>
  /** Shows the others what is live on this node. */
  report(live: Required<Pick<NodeRecord, 'generation' | 'digest' | 'sharedDigest'>>): void
  /**
   * Calls `run` when this node becomes the one that does this, and again after it has lost and regained that. Several parts of a node may
   * follow one leadership. Returns a function that gives it up permanently; another node begins once all parts have.
   */
  whileLeading(what: LeaderDuty, run: (lead: Leadership) => void): () => void
  /** Where sources keep their values, on whichever node they run. Absent: each node has its own folder. */
  readonly sourceValues?: SourceValues
  /** Undefined for a store without a server. */
  database(): Promise<DatabaseState | undefined>
}

export interface Health {
  /** False after a write failed, until one succeeds again. The store retries automatically about once a second. */
  readonly writable: boolean
  /** Runs and deliveries whose task has not settled as done. */
  readonly backlog: number
  /** True if `accept` would answer BACKLOG to an entry with actions. */
  readonly full: boolean
  /** Pending events, summaries of runs among them. */
  readonly events: number
  /** True if `accept` would answer BACKLOG to an entry with an event. */
  readonly fullOfEvents: boolean
  /** Reason why the store is not writable, and advice for the operator. It may name paths. */
  readonly reason?: string
  /** The reason in a few words without paths, which may be shown to anyone. */
  readonly brief?: string
  /** Commits since the store was opened. Concurrent calls share them. */
  readonly commits: number
  /**
   * The disk lost writes of the embedded store, in this process or in one before it. It is kept until the issue about it
   * (`DISK_LOST_WRITES`) has been committed after the end of the outage.
   */
  readonly outage?: Outage
}

/** A time in which the disk failed. Times are milliseconds since the Unix epoch. */
export interface Outage {
  readonly since: number
  /** When the store could write again. Absent while it cannot. */
  readonly until?: number
  /** The disk's error, in a few words. */
  readonly reason: string
}

/** Limits that may change while the store is open. */
export interface StoreLimits {
  /** Ended history older than this is deleted. Milliseconds. */
  readonly keepMs: number
  /**
   * Maximum number of queued runs and unsent deliveries. Over it `accept` throws `BACKLOG`. As many events may be pending; over that
   * it throws for an entry with one. Posts and messages of runs themselves are counted and never refused.
   */
  readonly backlog: number
  /** A session with a generated key is deleted when its last turn is older than this. Milliseconds. Default: `keepMs`. */
  readonly sessionIdleMs?: number
  /**
   * Maximum size of kept bodies with their headers and traces, in bytes. Over it the oldest are deleted, and their requests
   * stay. Default: 1 GiB.
   */
  readonly maxBodyBytes?: number
  /**
   * Milliseconds that the bodies of ignored and skipped requests are kept, with their headers. They also go before all others where room
   * is short. Default: as those of others.
   */
  readonly ignoredBodiesMs?: number
}

export interface StoreOptions extends StoreLimits {
  /** The folder of the embedded store, or the connection string of a server. */
  readonly location: string
  /**
   * For a store that several nodes share: how often a node says that it is alive, after what time the others take it for dead, and for how
   * long after it said so it may begin what must not happen twice. Milliseconds. Default: 5,000, 15,000 and 10,000.
   */
  readonly leases?: { readonly renewMs: number; readonly expireMs: number; readonly freshMs: number }
  /** For tests of a store that several nodes share: stands for the database's clock, but for leases. */
  readonly sharedNow?: () => number
  /** This node as the others see it. Default: no name, role `all`. */
  readonly node?: Pick<NodeRecord, 'name' | 'version' | 'role'>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /**
   * Called at most once, when the store has stopped permanently. From then on every call is refused with `STORE_UNAVAILABLE`
   * until the process is restarted. Committed data is safe.
   */
  readonly onStopped?: (error: StoreError) => void
  /** Called with the store's health when it becomes unable or able to write. */
  readonly onHealth?: (health: Health) => void
  /** Called when this node has taken over from one that is dead, and when the others have taken this one for dead. */
  readonly onTakeover?: (takeover: Takeover) => void
  /** The timer for due times. Default: `setTimeout`, in a way that does not keep the process alive. */
  readonly setTimer?: SetTimer
  /**
   * The timer of the check, once a second, that the files are in place and commits end. It is separate because that check
   * is about real time. Default: as for `setTimer`.
   */
  readonly setWatchTimer?: SetTimer
  /**
   * Maximum number of requests with each of the outcomes `ignored`, `skipped`, `duplicate`, `failed` and `refused`. One more deletes the oldest,
   * whatever its age. Default: 100,000.
   */
  readonly maxWithoutEffect?: number
  /** Maximum number of messages of a session that `load` returns. Older ones stay readable until they expire. */
  readonly historyMessages: number
}

export interface Takeover {
  /** The name of the node that was taken for dead. */
  readonly node: string
  readonly isSelf: boolean
  /** Tasks that it had claimed, and that are free again. */
  readonly tasks: number
}

/** Calls `run` once, `ms` milliseconds from now, unless the returned function is called before. */
export type SetTimer = (run: () => void, ms: number) => () => void

/** @throws StoreError `LOCKED`, `SCHEMA_NEWER`, `STORE_MISSING` or `STORE_UNAVAILABLE` */
export type OpenStore = (options: StoreOptions) => Promise<Store>

export type StoreErrorCode =
  /** This one call is at fault and will always be: an id that was used twice, a time that is no number. */
  | 'BAD_ENTRY'
  /** The cursor of a list came from no page. */
  | 'BAD_CURSOR'
  | 'STORE_FULL'
  | 'STORE_UNAVAILABLE'
  | 'BACKLOG'
  | 'DRAINING'
  | 'LEASE_LOST'
  | 'SCHEMA_NEWER'
  /** Other files show that there was a store whose database is missing. No empty one is created in its place. */
  | 'STORE_MISSING'
  | 'LOCKED'
  /** The package with the database's driver is not installed, or is for another version of the kit. */
  | 'PLUGIN_MISSING'
  | 'PLUGIN_KIT'

export class StoreError extends Error {
  readonly code: StoreErrorCode
  /** The message in a few words without paths, which may be shown to anyone. */
  readonly brief: string | undefined
  /** Advice for the operator, in sentences. */
  readonly fix: string | undefined

  constructor(
    code: StoreErrorCode,
    message: string,
    options?: ErrorOptions & { readonly brief?: string; readonly fix?: string | undefined },
  ) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
    this.brief = options?.brief
    this.fix = options?.fix
  }
}
