/** Owns the shapes that a store keeps and the admin surface answers. Times are milliseconds since the Unix epoch. */

/** A UUIDv7 in its text form, monotonic within one process, minted before the commit that uses it. */
export type Id = string

export type RequestOutcome =
  | 'accepted'
  | 'ignored'
  | 'skipped'
  | 'duplicate'
  | 'handshake'
  | 'failed'
  | 'refused'

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
  /** Why its sender was not believed, as a stable code; the sender was not told. */
  readonly failure?: string
  /** The id of the mapping that decided. */
  readonly mapping?: string
  /** The client's address. */
  readonly client?: string
  readonly bodyBytes: number
  readonly receivedAt: number
  /** Milliseconds from the request's first byte to the body read, the decision made, the answer ready. */
  readonly timings: { readonly read?: number; readonly resolve?: number; readonly accept?: number }
  readonly actions: readonly {
    readonly kind: 'wake' | 'agent'
    readonly id: Id
    /** It was there before: the request that brought it. */
    readonly duplicateOf?: Id
  }[]
  /** How many requests this record stands for, where refused ones are summed up. Absent: one. */
  readonly count?: number
  /** The raw body, where `history.bodies` keeps it: never in a list. Not in API answers. */
  readonly body?: Uint8Array
  /** What came with a body that is kept. As the body: never in a list, and not in API answers. */
  readonly head?: RequestHead
}

/** What besides its body it takes to evaluate a request once more. No tokens, no cookies. */
export interface RequestHead {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type RunState = 'queued' | 'running' | 'succeeded' | 'failed' | 'timed-out' | 'cancelled' | 'parked'
/** `cancelled`: it ended before it was performed, so that it came to none of the later stages. */
export type RunStage = 'accepted' | 'running' | 'ran' | 'summarised' | 'delivered' | 'cancelled'

export interface RunError {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
}

/** Tokens, as far as the runner counts them. */
export interface RunUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
}

/** Of the requests that became one run, so many are known by their ids: the newest. */
export const mostNamedRequests = 1000

/**
 * The requests of a run's actions, each once. `own`: the request that began it; `joined`: those of the actions that are known
 * one by one, oldest first; `joinedCount`: of all that were joined.
 */
export function requestsOf(
  own: Id | undefined,
  joined: readonly Id[],
  joinedCount: number,
): { readonly requests?: number; readonly requestIds: readonly Id[] } {
  const all = [...new Set([...(own === undefined ? [] : [own]), ...joined])]
  const isWhole = joinedCount === joined.length
  return { ...(isWhole && { requests: all.length }), requestIds: all.slice(-mostNamedRequests) }
}

/** A request that was joined to a run which was there before it. */
export interface JoinedRequest {
  readonly requestId: Id
  readonly at: number
  /** As rendered, and as a model may see it; absent where a newer one took its place. */
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
  /** Input and output together. */
  readonly tokens: number
  /** Whether somebody was told that the budget is spent. */
  readonly told: boolean
}

/** What all runs of a day have cost, and what those have that a policy's budget pays for. */
export interface SpentToday {
  /** UTC: `2026-01-31`. */
  readonly day: string
  readonly all: Spent
  /** By the policy's name; those that have spent something. */
  readonly budgets: Readonly<Record<string, Spent>>
}

/** One try at the model stage. */
export interface Attempt {
  readonly number: number
  readonly startedAt: number
  readonly endedAt?: number
  readonly outcome?: 'succeeded' | 'failed' | 'timed-out' | 'cancelled' | 'interrupted'
  /** Why there was another attempt, or how this one ended, in one sentence. */
  readonly reason?: string
}

/** One agent turn: a hook's run, or a heartbeat of the main session. */
export interface RunRecord {
  readonly id: Id
  readonly kind: 'run' | 'heartbeat'
  /** Absent for heartbeats. */
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
  /** Where the reply goes instead of `channel` and `to`, each once. */
  readonly deliverTo?: readonly Route[]
  /** The message as rendered. */
  readonly message: string
  /** The prompt as given to the runner. */
  readonly prompt: string
  readonly reply?: string
  readonly error?: RunError
  readonly usage?: RunUsage
  /** What the runner wants the operator to know though it succeeded. */
  readonly warnings?: readonly string[]
  /** Where another system, which answers and delivers by itself, tells of this turn. */
  readonly handedOver?: string
  /** Other requests were, or can still be, joined to this run. */
  readonly coalesce?: {
    /** Scope and key: what they have in common. */
    readonly key: string
    readonly keep: 'latest' | 'all'
    /** The run waits no longer than this for more of them. */
    readonly deadline: number
    /** More runs of this key within an hour are parked. */
    readonly mostPerHour: number
    /**
     * Actions that became this run, its own included; a mapping with `forEach` makes several of one request. Counted when
     * the run starts, or read while it waits.
     */
    readonly count?: number
    /** Requests that brought these actions. Absent where there were more actions than are known one by one (1,000). */
    readonly requests?: number
    /** The newest of those requests, its own included, each once, oldest first. */
    readonly requestIds?: readonly Id[]
  }
  /** The policy by whose `concurrency` its runs are limited. */
  readonly pool?: string
  /** The policy whose `budget` it is paid from. */
  readonly budget?: string
  /** Somebody asked for its end while it was running. */
  readonly cancelRequestedAt?: number
  readonly attempts: readonly Attempt[]
  readonly createdAt: number
  readonly startedAt?: number
  readonly ranAt?: number
  readonly summarisedAt?: number
  readonly deliveredAt?: number
  /** When it ended without being performed to its end; it then has no `ranAt` and no `deliveredAt`. */
  readonly cancelledAt?: number
  readonly summaryEventId?: Id
  readonly deliveryIds: readonly Id[]
  /** For heartbeats: the events that were shown. */
  readonly eventIds?: readonly Id[]
}

/** One queued system event. */
export interface EventRecord {
  readonly id: Id
  readonly session: string
  readonly state: 'pending' | 'consumed'
  /** As rendered. */
  readonly text: string
  /** As shown to the model: `text` with the boundary applied. */
  readonly prompt: string
  readonly mode: 'now' | 'next-heartbeat'
  readonly trusted: boolean
  /** What posted it: a request's wake action, or a run's summary. */
  readonly origin: { readonly requestId?: Id; readonly runId?: Id }
  readonly endpoint?: string
  readonly mapping?: string
  readonly generation: number
  readonly createdAt: number
  readonly consumedAt?: number
  /** The heartbeat that consumed it. */
  readonly consumedBy?: Id
}

/** One outgoing reply. */
export interface DeliveryRecord {
  readonly id: Id
  /** The run whose reply it is. Absent: somebody sent it by hand. */
  readonly runId?: Id
  readonly state: 'pending' | 'delivered' | 'skipped' | 'parked'
  /** The channel's name, `last` already resolved. */
  readonly channel: string
  readonly to?: string
  /** The reply as Markdown. */
  readonly text: string
  /** One per part that was sent, in order. */
  readonly receipts: readonly unknown[]
  readonly attempts: number
  /** Why it is parked or skipped, as a stable code: `NO_ROUTE`, `ACK_ONLY`, or the channel's error code. */
  readonly code?: string
  readonly reason?: string
  readonly generation: number
  readonly createdAt: number
  /** While pending: when it was first tried in vain. How long it is tried is counted from then on. */
  readonly firstTriedAt?: number
  /** When the part that comes next was first sent without an answer that settles whether it arrived. */
  readonly unsureSince?: number
  /** When the next try is due, while pending. */
  readonly nextAt?: number
  readonly endedAt?: number
}

/** One message of a session's history. */
export interface SessionMessage {
  /** `summary`: what stands in place of older messages. */
  readonly role: 'user' | 'assistant' | 'summary'
  readonly text: string
  readonly at: number
  /** The run that wrote it. */
  readonly turn: Id
}

/** Where replies to `last` go. */
export interface Route {
  readonly channel: string
  readonly to?: string
}
