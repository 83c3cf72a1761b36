/**
 * Describes the records of the store, for their types and for the answers of the API. Only the API loads it: the store imports its types
 * alone. Times are milliseconds since the Unix epoch.
 */

import { type Static, type TOptional, type TSchema, Type } from '@reveille/engine/schema'
import {
  deliveryStates,
  eventStates,
  requestOutcomes,
  runStages,
  runStates,
  severities,
} from './record-states.ts'

/** The type of what passes a schema. Nothing changes what was answered, asked or kept. */
export type ValueOf<Of> = Of extends TSchema ? Frozen<Static<Of>> : never

export type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value

/** Makes properties that may be absent. */
export function optional<Of extends Readonly<Record<string, TSchema>>>(properties: Of) {
  const all = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(all) as { readonly [Name in keyof Of]: TOptional<Of[Name]> }
}

export const time = Type.Integer({ description: 'Milliseconds since the Unix epoch.' })
export const id = Type.String({ description: 'A UUIDv7. It may be written in any case.' })

const by = Type.String({ description: 'The name of the token whose holder did it.' })

export const route = Type.Object(
  {
    channel: Type.String({ description: 'The name of a channel.' }),
    ...optional({ to: Type.String({ description: 'The recipient.' }) }),
  },
  { $id: 'Route' },
)

const traceparent = Type.String({ description: 'The W3C Trace Context of its cause.' })

const forgottenAt = Type.Integer({ description: 'When an operator had its texts erased.' })

export const requestFields = {
  id,
  endpoint: Type.String({ description: 'The name behind `/hooks/`.' }),
  generation: Type.Integer({ description: 'The live generation.' }),
  outcome: Type.Enum(requestOutcomes),
  status: Type.Integer({ description: 'The HTTP status that was answered.' }),
  bodyBytes: Type.Integer(),
  bodyKept: Type.Boolean({ description: 'True if the body is kept, so that it can be shown and replayed.' }),
  /** From the request's first byte. */
  receivedAt: time,
  timings: Type.Object(optional({ read: Type.Number(), resolve: Type.Number() }), {
    description: 'Milliseconds until the body was read and the decision made.',
  }),
  actions: Type.Array(
    Type.Object({
      kind: Type.Enum(['wake', 'agent']),
      id: Type.String({ description: 'The event of a wake, or the run.' }),
      ...optional({ duplicateOf: id }),
    }),
  ),
  ...optional({
    code: Type.String({ description: 'The stable error code.' }),
    reason: Type.String({ description: 'One sentence; it never quotes the body.' }),
    failure: Type.String({
      description: 'Why authentication failed, as a stable code. The sender does not learn it.',
    }),
    mapping: Type.String({ description: 'The id of the mapping that decided.' }),
    client: Type.String({ description: 'The address of the client.' }),
    deliveryId: Type.String({ description: 'The id that the sender gave the delivery.' }),
    replayOf: id,
    traceparent,
    authenticatedBy: Type.Enum(['provider-api'], {
      description:
        'Present where it was asked for at the API of its provider, and was no request that came in.',
    }),
    generationDigest: Type.String({ description: 'The beginning of the digest of the generation.' }),
    node: Type.String({ description: 'The node that accepted it, where there are several.' }),
    count: Type.Integer({
      description: 'Number of requests that this record sums up, where they were refused.',
    }),
    by: Type.String({ description: 'Of a replay: the name of the token whose holder asked for it.' }),
    forgottenAt,
    forgottenBy: by,
  }),
}

export const requestItem = Type.Object(requestFields, {
  $id: 'RequestItem',
  description: 'A request in a list.',
})

const runError = Type.Object({ code: Type.String(), message: Type.String(), retryable: Type.Boolean() })

const attempt = Type.Object({
  number: Type.Integer(),
  startedAt: time,
  ...optional({
    endedAt: time,
    outcome: Type.Enum(['succeeded', 'failed', 'timed-out', 'cancelled', 'interrupted', 'held']),
    reason: Type.String(),
  }),
})

export const runFields = {
  id,
  kind: Type.Enum(['run', 'heartbeat']),
  generation: Type.Integer(),
  sessionKey: Type.String(),
  state: Type.Enum(runStates),
  stage: Type.Enum(runStages, { description: 'Its stage; `state` is the result of its turn.' }),
  runner: Type.String(),
  /** Over all attempts together. */
  timeoutSeconds: Type.Integer(),
  wakeMode: Type.Enum(['now', 'next-heartbeat']),
  deliver: Type.Boolean(),
  channel: Type.String({ description: 'A channel, or `last`.' }),
  message: Type.String({ description: 'The message as rendered.' }),
  prompt: Type.String({ description: 'The prompt as the runner gets it.' }),
  attempts: Type.Array(attempt),
  createdAt: time,
  deliveryIds: Type.Array(id),
  ...optional({
    requestId: id,
    traceparent,
    endpoint: Type.String(),
    mapping: Type.String(),
    name: Type.String(),
    model: Type.String(),
    thinking: Type.String(),
    to: Type.String(),
    /** The destinations of the reply instead of `channel` and `to`. */
    deliverTo: Type.Array(route),
    reply: Type.String(),
    error: runError,
    usage: Type.Object(
      optional({
        inputTokens: Type.Integer(),
        outputTokens: Type.Integer(),
        cachedInputTokens: Type.Integer(),
        reasoningTokens: Type.Integer(),
        usd: Type.Number({
          description: 'Cost of the tokens in US dollars, where the price of the model is known.',
        }),
      }),
    ),
    /** The runner's reports to the operator although it succeeded. */
    warnings: Type.Array(Type.String()),
    handedOver: Type.String({ description: 'The place in another system where the turn can be followed.' }),
    /** Other requests joined this run, or can still join it. `key` is the scope and the key that all its requests have in common. */
    coalesce: Type.Object({
      key: Type.String(),
      keep: Type.Enum(['latest', 'all']),
      /** The run waits no longer than this for further requests. */
      deadline: time,
      /** Runs of this key over this number within an hour are parked. */
      maxPerHour: Type.Integer(),
      /**
       * `count` is how many actions became this run, its own included; a mapping with `forEach` makes several of one request. It is
       * written when the run starts. `requestIds` are the newest requests of these actions, each once and oldest first; `requests` counts
       * all, where not more than 1,000 actions joined.
       */
      ...optional({ count: Type.Integer(), requests: Type.Integer(), requestIds: Type.Array(id) }),
    }),
    pool: Type.String({ description: 'The policy whose `concurrency` limits it.' }),
    budget: Type.String({ description: 'The policy whose `budget` pays for it.' }),
    /** When an operator cancelled the run while it was running. */
    cancelRequestedAt: time,
    startedAt: time,
    ranAt: time,
    summarisedAt: time,
    deliveredAt: time,
    /** When it ended without being performed to its end. It then has no `ranAt` and no `deliveredAt`. */
    cancelledAt: time,
    summaryEventId: id,
    eventIds: Type.Array(id, { description: 'The events that a heartbeat has shown.' }),
    joined: Type.Array(Type.Object({ requestId: id, at: time, ...optional({ message: Type.String() }) }), {
      description: 'The newest 100 requests that joined a run which was cancelled before it could read them.',
    }),
    retries: Type.Array(
      Type.Object({
        at: time,
        state: Type.Enum(['failed', 'timed-out']),
        attempts: Type.Integer({ description: 'Number of its attempts before.' }),
        ...optional({ error: runError, summaryEventId: id }),
      }),
      { description: 'Its results before each retry, oldest first.' },
    ),
    orders: Type.Array(Type.Object({ order: Type.Enum(['cancel', 'resume', 'retry']), at: time, by }), {
      description: 'Who cancelled, resumed or retried it, oldest first.',
    }),
    forgottenAt,
  }),
}

export const runItem = Type.Object(runFields, { $id: 'RunItem', description: 'A run in a list.' })

export const event = Type.Object(
  {
    id,
    session: Type.String(),
    state: Type.Enum(eventStates),
    text: Type.String({ description: 'The text as rendered.' }),
    prompt: Type.String({ description: 'The text as the model gets it.' }),
    mode: Type.Enum(['now', 'next-heartbeat']),
    trusted: Type.Boolean(),
    /** Where it came from: a request's wake action, a run's summary, or an issue that opened. */
    origin: Type.Object(
      optional({
        requestId: id,
        runId: id,
        traceparent,
        issue: Type.String({ description: 'The key of an issue.' }),
      }),
    ),
    generation: Type.Integer(),
    createdAt: time,
    ...optional({
      endpoint: Type.String(),
      mapping: Type.String(),
      consumedAt: time,
      /** The heartbeat. Absent for one that was forgotten while it was pending. */
      consumedBy: id,
      forgottenAt,
    }),
  },
  { $id: 'Event' },
)

export const delivery = Type.Object(
  {
    id,
    state: Type.Enum(deliveryStates),
    channel: Type.String(),
    text: Type.String({ description: 'The reply as Markdown.' }),
    receipts: Type.Array(Type.Unknown({ description: "The channel's answer for one part." })),
    attempts: Type.Integer(),
    generation: Type.Integer(),
    createdAt: time,
    ...optional({
      runId: id,
      by: Type.String({ description: 'The name of the token whose holder sent it, or replayed it last.' }),
      to: Type.String(),
      code: Type.String({ description: 'Why it is parked or skipped, as a stable code.' }),
      reason: Type.String(),
      /** When a pending delivery first failed. Its retry window begins here. */
      firstTriedAt: time,
      /** When the next part was first sent without an answer that shows whether it arrived. */
      unsureSince: time,
      /** When the next try of a pending delivery is due. */
      nextAt: time,
      endedAt: time,
      forgottenAt,
    }),
  },
  { $id: 'Delivery' },
)

export const sessionItem = Type.Object(
  { key: Type.String(), turns: Type.Integer(), lastAt: time },
  { $id: 'SessionItem' },
)

export const issueStates = ['open', 'resolved', 'muted'] as const

export const issue = Type.Object(
  {
    key: Type.String({ description: 'Names it in the routes that change it.' }),
    code: Type.String({ description: 'Its kind, such as `TRANSFORM_FAILING`.' }),
    severity: Type.Enum(severities, { description: 'Severity; the worst is the first of these.' }),
    subject: Type.String({ description: 'Its subject: an endpoint, a mapping, a channel.' }),
    cause: Type.String({ description: 'One sentence.' }),
    next: Type.Object(
      {
        label: Type.String(),
        ...optional({
          command: Type.String({ description: 'A command to copy.' }),
          action: Type.Object({
            method: Type.Enum(['POST', 'PUT', 'DELETE']),
            path: Type.String(),
            ...optional({
              body: Type.Unsafe<object>({ type: 'object', description: 'The body, where it has one.' }),
            }),
          }),
        }),
      },
      { description: 'The next step.' },
    ),
    count: Type.Integer(),
    first: time,
    last: time,
    state: Type.Enum(issueStates),
    ...optional({
      /** When a muted issue opens again. Absent: only manually. */
      mutedUntil: time,
      resolvedAt: time,
      reportedOn: Type.String({
        description: 'The day (UTC) on which the main session last got an event about it.',
      }),
      alerted: Type.Array(
        Type.Enum(['channel', 'webhook'], { description: 'By which a person was alerted that it is open.' }),
      ),
    }),
  },
  { $id: 'Issue' },
)

/** A message of a session. A `summary` replaces older messages. */
export const sessionMessage = Type.Object({
  role: Type.Enum(['user', 'assistant', 'summary']),
  text: Type.String(),
  at: time,
  /** The run that wrote it. */
  turn: id,
})

export const cost = Type.Object(
  {
    name: Type.String({ description: 'The day, mapping, model or session; empty for turns that have none.' }),
    runs: Type.Integer({ description: 'Number of turns.' }),
    tokens: Type.Integer({ description: 'Input and output together.' }),
    usd: Type.Number({ description: 'US dollars, to a millionth.' }),
    unpriced: Type.Integer({
      description: 'Number of these turns that are not in `usd`, as their cost is not known.',
    }),
  },
  { $id: 'Cost' },
)

export const job = Type.Object({
  id,
  filter: Type.Unsafe<object>({ type: 'object', description: 'Which requests were chosen.' }),
  options: Type.Unsafe<object>({ type: 'object', description: 'Options of their replay.' }),
  state: Type.Enum(['running', 'done', 'cancelled']),
  total: Type.Integer(),
  done: Type.Integer({ description: 'Number of accepted replays.' }),
  failed: Type.Integer({ description: 'Number of replays that failed again.' }),
  skipped: Type.Integer({
    description: 'Number of requests that could not be replayed, or had no effect again.',
  }),
  createdAt: time,
  ...optional({
    endedAt: time,
    by: Type.String({ description: 'The name of the token whose holder began it.' }),
  }),
})

export const jobItem = Type.Object({
  request: id,
  state: Type.Enum(['open', 'done', 'failed', 'skipped']),
  ...optional({ replay: id, reason: Type.String({ description: 'Why, in one sentence.' }) }),
})

export const node = Type.Object({
  id: Type.String({ description: 'Another one after each start.' }),
  name: Type.String({ description: 'The name of its machine, or what it was given.' }),
  version: Type.String(),
  role: Type.Enum(['all', 'ingress']),
  startedAt: time,
  /** When it last renewed its row. */
  renewedAt: time,
  leads: Type.Array(Type.String(), { description: 'Its work for all nodes.' }),
  isSelf: Type.Boolean({ description: 'True if it is the node that answers.' }),
  ...optional({
    generation: Type.Integer({ description: 'Its live generation, by its own number.' }),
    digest: Type.String({
      description: 'The beginning of the digest of that, the same on all nodes with the same files.',
    }),
    sharedDigest: Type.String({
      description: 'The same without what each node has for itself, such as its port and its data folder.',
    }),
    skewMs: Type.Integer({ description: "Milliseconds by which its clock is ahead of the database's." }),
    wakeUp: Type.Enum(['notify', 'poll'], { description: 'Its way to learn of changes by other nodes.' }),
  }),
})

export const database = Type.Object({
  version: Type.String({ description: 'Of the server.' }),
  ...optional({
    oldestTransaction: Type.Object(
      { ageMs: Type.Integer(), by: Type.String() },
      { description: 'The oldest one that keeps the database from removing dead rows.' },
    ),
  }),
})
