/** The records that a store keeps and the admin surface answers. Times are milliseconds since the Unix epoch. */

import type {
  cost,
  delivery,
  event,
  issue,
  job,
  jobItem,
  requestItem,
  route,
  runItem,
  sessionItem,
  sessionMessage,
  ValueOf,
} from './record-schemas.ts'

export * from './record-states.ts'

/** One received POST and how it ended. */
export type RequestRecord = Omit<ValueOf<typeof requestItem>, 'bodyKept'> & {
  /** In lists, whether the body is kept. */
  readonly bodyKept?: boolean
  /** The raw body, if `history.bodies` keeps it. It is never in a list, and not in API answers. */
  readonly body?: Uint8Array
  /** The headers and query of a body that is kept. They are never in a list, and not in API answers. */
  readonly head?: RequestHead
  /** Explanation of the request's decision. It is never in a list. */
  readonly trace?: RequestTrace
}

/** One agent turn: a hook's run, or a heartbeat of the main session. */
export type RunRecord = ValueOf<typeof runItem>
export type RunError = NonNullable<RunRecord['error']>
/** The tokens of a run, as far as the runner counts them. */
export type RunUsage = NonNullable<RunRecord['usage']>
/** One attempt of a run to get its turn performed. `held`: the runner could answer nobody, which counts for no run. */
export type Attempt = RunRecord['attempts'][number]
/** An operator's order about a run. */
export type RunOrder = NonNullable<RunRecord['orders']>[number]
/** One queued system event. */
export type EventRecord = ValueOf<typeof event>
/** One outgoing reply, with one receipt for each part that was sent, in order. */
export type DeliveryRecord = ValueOf<typeof delivery>
/** One session, without its messages. */
export type SessionSummary = ValueOf<typeof sessionItem>
/** The destination of replies to `last`. */
export type Route = ValueOf<typeof route>
/** An open problem, which is recorded once however often it shows. */
export type IssueRecord = ValueOf<typeof issue>
/** An operator's next step about an open problem. */
export type NextStep = IssueRecord['next']
/** A way by which people are notified of issues. */
export type AlertWay = NonNullable<IssueRecord['alerted']>[number]

/** A UUIDv7 as a string, monotonic within one process, minted before the commit that uses it. */
export type Id = string

/** Results of all mappings. The store knows no more of it than it needs to bound its size. */
export interface RequestTrace {
  /** One object for each mapping that was tried, in order. */
  readonly candidates: readonly object[]
  /** Number of mappings tried besides. */
  readonly more: number
  /** True if the body was a form. */
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

/** Maximum number of requests of one run that are known by their ids: the newest ones. */
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

/** The cost of runs in one day. */
export interface Spent {
  readonly runs: number
  /** Input and output tokens together. */
  readonly tokens: number
  /** US dollars, to a millionth, as far as the prices of the models were known. */
  readonly usd: number
  /** True if the main session was notified that the budget is spent. */
  readonly reported: boolean
}

/** The cost of all runs of a day, and of the runs of each policy with a budget. */
export interface SpentToday {
  /** The day in UTC: `2026-01-31`. */
  readonly day: string
  readonly all: Spent
  /** Costs by the policy's name. Policies that spent nothing are left out. */
  readonly budgets: Readonly<Record<string, Spent>>
}

/** Groups of costs. A session is one whose key was given; all others are one group without a name. */
export const costGroups = ['day', 'mapping', 'model', 'session'] as const

export type CostGroup = (typeof costGroups)[number]

/** The cost of the turns of one day, mapping, model or session. */
export type Cost = ValueOf<typeof cost>

/** One message of a session's history. */
export type SessionMessage = ValueOf<typeof sessionMessage>

/** The route as it is kept, with the token of the operator who set it. */
export interface SetRoute extends Route {
  readonly by?: string
}

/** Many requests that are replayed one after the other, each once, however often the process restarts meanwhile. */
export type ReplayJob = ValueOf<typeof job>

/** One of its requests. Its replay keeps its id permanently. */
export type ReplayJobItem = ValueOf<typeof jobItem>
