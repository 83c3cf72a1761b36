/** The records that a store keeps and the admin surface answers. Times are milliseconds since the Unix epoch. */

/** A UUIDv7 as a string, monotonic within one process, minted before the commit that uses it. */
export type Id = string

export const requestOutcomes = [
  'accepted',
  'ignored',
  'skipped',
  'duplicate',
  'handshake',
  'failed',
  'refused',
] as const
export type RequestOutcome = (typeof requestOutcomes)[number]

/** One received POST and how it ended. */
export interface RequestRecord {
  readonly id: Id
  readonly endpoint: string
  readonly generation: number
  readonly outcome: RequestOutcome
  /** The HTTP status that was answered. */
  readonly status: number
  /** The stable error code, for `failed` and `refused`, and for a `duplicate` whose body was another one. */
  readonly code?: string
  /** One sentence; never quotes the body. */
  readonly reason?: string
  /** Why authentication failed, as a stable code. The sender does not learn it. */
  readonly failure?: string
  /** The id of the mapping that decided. */
  readonly mapping?: string
  /** The client's address. */
  readonly client?: string
  /** The id that the sender gave the delivery, where its provider names one. */
  readonly deliveryId?: string
  /** The request that this one repeats. */
  readonly replayOf?: Id
  /** The W3C Trace Context that an authenticated sender gave it. */
  readonly traceparent?: string
  /** `provider-api`: it was not received but fetched from the provider's API, whose answer is trusted. */
  readonly authenticatedBy?: 'provider-api'
  /** The beginning of the digest of its generation's content. */
  readonly generationDigest?: string
  /** The node that accepted it, where there are several. */
  readonly node?: string
  readonly bodyBytes: number
  readonly receivedAt: number
  /** Milliseconds from the request's first byte until the body was read, the decision made and the answer ready. */
  readonly timings: { readonly read?: number; readonly resolve?: number; readonly accept?: number }
  readonly actions: readonly {
    readonly kind: 'wake' | 'agent'
    readonly id: Id
    /** The earlier request with this action, for a duplicate. */
    readonly duplicateOf?: Id
  }[]
  /** How many requests this record stands for, if refused ones were summed up. Default: one. */
  readonly count?: number
  /** The raw body, if `history.bodies` keeps it. It is never in a list, and not in API answers. */
  readonly body?: Uint8Array
  /** In lists, whether the body is kept. */
  readonly bodyKept?: boolean
  /** The headers and query of a body that is kept. They are never in a list, and not in API answers. */
  readonly head?: RequestHead
  /** Why the request was decided as it was. It is never in a list. */
  readonly trace?: RequestTrace
  /** The token whose holder had it replayed. */
  readonly by?: string
  /** When an operator had its body, head, trace and texts erased. */
  readonly forgottenAt?: number
  /** The token of that operator. */
  readonly forgottenBy?: string
}

/** How each mapping was tried. The store knows no more of it than it needs to bound its size. */
export interface RequestTrace {
  /** One object for each mapping that was tried, in order. */
  readonly candidates: readonly object[]
  /** How many mappings were tried besides. */
  readonly more: number
  /** Whether the body was a form. */
  readonly isForm?: true
  /** Candidates were left out for the trace's size, and are counted in `more`. */
  readonly cut?: true
}

/** The values that are needed, beside the body, to evaluate a request again. They include no tokens and no cookies. */
export interface RequestHead {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
}

export const runStates = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'parked',
] as const
export type RunState = (typeof runStates)[number]
/** A run at `cancelled` ended before it was performed, and reached none of the later stages. */
export const runStages = ['accepted', 'running', 'ran', 'summarised', 'delivered', 'cancelled'] as const
export type RunStage = (typeof runStages)[number]
export const eventStates = ['pending', 'consumed'] as const
export const deliveryStates = ['pending', 'delivered', 'skipped', 'parked'] as const

export interface RunError {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
}

/** The tokens of a run, as far as the runner counts them. */
export interface RunUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
  /** What these tokens cost in US dollars, to a millionth. Absent if the price of the model was not known. */
  readonly usd?: number
}

/** How many of the requests that became one run are known by their ids: the newest ones. */
export const maxNamedRequests = 1000

/**
 * Returns the requests of a run's actions, each once. `own` is the request that began the run; `joined` are the known
 * requests that joined it, oldest first; `joinedCount` counts all that joined.
 */
export function requestsOf(
  own: Id | undefined,
  joined: readonly Id[],
  joinedCount: number,
): { readonly requests?: number; readonly requestIds: readonly Id[] } {
  const all = [...new Set([...(own === undefined ? [] : [own]), ...joined])]
  const isWhole = joinedCount === joined.length
  return { ...(isWhole && { requests: all.length }), requestIds: all.slice(-maxNamedRequests) }
}

/** A request that joined an earlier run. */
export interface JoinedRequest {
  readonly requestId: Id
  readonly at: number
  /** The message as rendered and the prompt as a model may see it. Absent if a newer request took its place. */
  readonly content?: { readonly message: string; readonly prompt: string }
}

/** One session, without its messages. */
export interface SessionSummary {
  readonly key: string
  readonly turns: number
  readonly lastAt: number
}

/** What runs have cost in one day. */
export interface Spent {
  readonly runs: number
  /** Input and output tokens together. */
  readonly tokens: number
  /** US dollars, to a millionth, as far as the prices of the models were known. */
  readonly usd: number
  /** Whether the main session was notified that the budget is spent. */
  readonly reported: boolean
}

/** What all runs of a day have cost, and what the runs of each policy with a budget have cost. */
export interface SpentToday {
  /** The day in UTC: `2026-01-31`. */
  readonly day: string
  readonly all: Spent
  /** What each policy has spent, by its name. Policies that spent nothing are not named. */
  readonly budgets: Readonly<Record<string, Spent>>
}

/** By what costs are summed up. A session is one whose key was given; all others are one group without a name. */
export const costGroups = ['day', 'mapping', 'model', 'session'] as const

export type CostGroup = (typeof costGroups)[number]

/** What the turns of one day, mapping, model or session have cost. */
export interface Cost {
  /** Empty for turns that have none, such as heartbeats, which have no mapping. */
  readonly name: string
  readonly runs: number
  /** Input and output tokens together. */
  readonly tokens: number
  /** US dollars, to a millionth. */
  readonly usd: number
  /** How many of these turns are not in `usd`, because the price of their model or their tokens are not known. */
  readonly unpriced: number
}

/** One attempt of a run to get its turn performed. */
export interface Attempt {
  readonly number: number
  readonly startedAt: number
  readonly endedAt?: number
  /** `held`: the runner could answer nobody, which counts for no run. */
  readonly outcome?: 'succeeded' | 'failed' | 'timed-out' | 'cancelled' | 'interrupted' | 'held'
  /** Why there was another attempt, or how this one ended, in one sentence. */
  readonly reason?: string
}

/** How a run ended before an operator had it performed again. */
export interface RunRetry {
  /** When it was queued again. */
  readonly at: number
  /** How it had ended. */
  readonly state: 'failed' | 'timed-out'
  readonly error?: RunError
  /** How many of the run's attempts came before. */
  readonly attempts: number
  /** The summary that reported that end to the main session. */
  readonly summaryEventId?: Id
}

/** What an operator ordered about a run. */
export interface RunOrder {
  readonly order: 'cancel' | 'resume' | 'retry'
  readonly at: number
  /** The name of the token. */
  readonly by: string
}

/** One agent turn: a hook's run, or a heartbeat of the main session. */
export interface RunRecord {
  readonly id: Id
  readonly kind: 'run' | 'heartbeat'
  /** The W3C Trace Context of its cause. Absent: it is derived from `requestId`. */
  readonly traceparent?: string
  /** The request that caused the run. A heartbeat has none. */
  readonly requestId?: Id
  readonly endpoint?: string
  readonly mapping?: string
  readonly generation: number
  readonly name?: string
  readonly sessionKey: string
  readonly state: RunState
  readonly stage: RunStage
  readonly runner: string
  readonly model?: string
  readonly thinking?: string
  /** Seconds, over all attempts together. */
  readonly timeoutSeconds: number
  readonly wakeMode: 'now' | 'next-heartbeat'
  readonly deliver: boolean
  /** A channel's name or `last`. */
  readonly channel: string
  readonly to?: string
  /** The destinations of the reply instead of `channel` and `to`. */
  readonly deliverTo?: readonly Route[]
  /** The message as rendered. */
  readonly message: string
  /** The prompt as given to the runner. */
  readonly prompt: string
  readonly reply?: string
  readonly error?: RunError
  readonly usage?: RunUsage
  /** What the runner reports to the operator although it succeeded. */
  readonly warnings?: readonly string[]
  /** The address in another system, which answers and delivers itself, where this turn can be followed. */
  readonly handedOver?: string
  /** Other requests joined this run, or can still join it. */
  readonly coalesce?: {
    /** The scope and the key that all its requests have in common. */
    readonly key: string
    readonly keep: 'latest' | 'all'
    /** The run waits no longer than this for further requests. */
    readonly deadline: number
    /** Runs of this key over this number within an hour are parked. */
    readonly maxPerHour: number
    /**
     * How many actions became this run, its own included. A mapping with `forEach` makes several actions of one request.
     * It is written when the run starts, and counted for readers before.
     */
    readonly count?: number
    /** How many requests contained these actions. Absent if there were more actions than are known by id (1,000). */
    readonly requests?: number
    /** The newest of those requests, its own included, each once and oldest first. */
    readonly requestIds?: readonly Id[]
  }
  /**
   * What joined a run that was cancelled before it could read it: the newest 100, oldest first. It is never in a list. A message
   * that is not kept is absent.
   */
  readonly joined?: readonly { readonly requestId: Id; readonly at: number; readonly message?: string }[]
  /** The policy whose `concurrency` limits its runs. */
  readonly pool?: string
  /** The policy whose `budget` pays for it. */
  readonly budget?: string
  /** When an operator cancelled the run while it was running. */
  readonly cancelRequestedAt?: number
  readonly attempts: readonly Attempt[]
  /** How it ended each time before it was retried, oldest first. */
  readonly retries?: readonly RunRetry[]
  /** Who cancelled, resumed or retried it, oldest first. */
  readonly orders?: readonly RunOrder[]
  readonly createdAt: number
  readonly startedAt?: number
  readonly ranAt?: number
  readonly summarisedAt?: number
  readonly deliveredAt?: number
  /** When the run ended without being performed to its end. It then has no `ranAt` and no `deliveredAt`. */
  readonly cancelledAt?: number
  readonly summaryEventId?: Id
  readonly deliveryIds: readonly Id[]
  /** The events that a heartbeat has shown. */
  readonly eventIds?: readonly Id[]
  /** When an operator had its texts erased. */
  readonly forgottenAt?: number
}

/** One queued system event. */
export interface EventRecord {
  readonly id: Id
  readonly session: string
  readonly state: (typeof eventStates)[number]
  /** The text as rendered. */
  readonly text: string
  /** The text as shown to the model, with the boundary applied. */
  readonly prompt: string
  readonly mode: 'now' | 'next-heartbeat'
  readonly trusted: boolean
  /** What posted it: a request's wake action, or a run's summary. */
  readonly origin: { readonly requestId?: Id; readonly runId?: Id; readonly traceparent?: string }
  readonly endpoint?: string
  readonly mapping?: string
  readonly generation: number
  readonly createdAt: number
  readonly consumedAt?: number
  /** The heartbeat that consumed it. Absent for one that was forgotten while it was pending. */
  readonly consumedBy?: Id
  /** When an operator had its texts erased. */
  readonly forgottenAt?: number
}

/** One outgoing reply. */
export interface DeliveryRecord {
  readonly id: Id
  /** The run whose reply it is. Absent if an operator sent it. */
  readonly runId?: Id
  /** The W3C Trace Context of that run. */
  readonly traceparent?: string
  /** The token whose holder sent it, or replayed it last. */
  readonly by?: string
  readonly state: (typeof deliveryStates)[number]
  /** The channel's name, with `last` already resolved. */
  readonly channel: string
  readonly to?: string
  /** The reply as Markdown. */
  readonly text: string
  /** One receipt for each part that was sent, in order. */
  readonly receipts: readonly unknown[]
  readonly attempts: number
  /** Why it is parked or skipped, as a stable code: `NO_ROUTE`, `ACK_ONLY`, or the channel's error code. */
  readonly code?: string
  readonly reason?: string
  readonly generation: number
  readonly createdAt: number
  /** When a pending delivery first failed. Its retry window begins here. */
  readonly firstTriedAt?: number
  /** When the next part was first sent without an answer that shows whether it arrived. */
  readonly unsureSince?: number
  /** When the next try of a pending delivery is due. */
  readonly nextAt?: number
  readonly endedAt?: number
  /** When an operator had its text erased. */
  readonly forgottenAt?: number
}

/** One message of a session's history. */
export interface SessionMessage {
  /** A `summary` replaces older messages. */
  readonly role: 'user' | 'assistant' | 'summary'
  readonly text: string
  readonly at: number
  /** The run that wrote it. */
  readonly turn: Id
}

/** The destination of replies to `last`. */
export interface Route {
  readonly channel: string
  readonly to?: string
}

/** The route as it is kept, with the token of the operator who set it. */
export interface SetRoute extends Route {
  readonly by?: string
}

/** Many requests that are replayed one after the other, each once, however often the process restarts meanwhile. */
export interface ReplayJob {
  readonly id: Id
  /** How the requests were chosen, and how they are replayed. The store knows no more of either. */
  readonly filter: object
  readonly options: object
  /** A job is cancelled by an operator, or because the process ended before all of its items were added. */
  readonly state: 'running' | 'done' | 'cancelled'
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly skipped: number
  readonly createdAt: number
  readonly endedAt?: number
  /** The token whose holder began it. */
  readonly by?: string
}

export interface ReplayJobItem {
  /** The request that is replayed. */
  readonly request: Id
  /** The id of its replay, which it keeps permanently. Absent until its turn comes. */
  readonly replay?: Id
  readonly state: 'open' | 'done' | 'failed' | 'skipped'
  /** Why it failed or was skipped, in one sentence. */
  readonly reason?: string
}

/** What an operator can do about an open problem. */
export interface NextStep {
  readonly label: string
  /** A command line. */
  readonly command?: string
  /** A call of the API. */
  readonly action?: {
    readonly method: 'POST' | 'PUT' | 'DELETE'
    readonly path: string
    readonly body?: object
  }
}

/**
 * How bad a problem is, the worst first. `losing-events`: events are lost, or not received. `failing`: accepted work fails or
 * waits for an operator. `degraded`: it works, with less than was asked for. `suspicious`: it may be harmless, and is worth a look.
 */
export const severities = ['losing-events', 'failing', 'degraded', 'suspicious'] as const

export type Severity = (typeof severities)[number]

/** A way by which people are notified of issues. */
export type AlertWay = 'channel' | 'webhook'

/** An open problem, which is recorded once however often it shows. */
export interface IssueRecord {
  readonly key: string
  /** What kind of problem it is, as a stable code. */
  readonly code: string
  readonly severity: Severity
  /** What it is about: an endpoint, a mapping, a channel. */
  readonly subject: string
  /** One sentence. */
  readonly cause: string
  readonly next: NextStep
  readonly count: number
  readonly first: number
  readonly last: number
  readonly state: 'open' | 'resolved' | 'muted'
  /** When a muted issue opens again. Absent: only manually. */
  readonly mutedUntil?: number
  readonly resolvedAt?: number
  /** The day in UTC, `2026-01-31`, on which the main session last got an event about it. */
  readonly reportedOn?: string
  /** The ways by which people were notified that it is open, and not yet that it has ended. */
  readonly alerted?: readonly AlertWay[]
}
