/** Describes the records that the API answers. The types of the store and of dispatch are held to them where handlers return these. */

import { Type } from '@reveille/engine/schema'
import {
  deliveryStates,
  eventStates,
  requestOutcomes,
  runStages,
  runStates,
  severities,
} from '../../store/records.ts'
import { id, optional, time } from './schema.ts'

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

const requestFields = {
  id,
  endpoint: Type.String({ description: 'The name behind `/hooks/`.' }),
  generation: Type.Integer({ description: 'What was live.' }),
  outcome: Type.Enum(requestOutcomes),
  status: Type.Integer({ description: 'The HTTP status that was answered.' }),
  bodyBytes: Type.Integer(),
  bodyKept: Type.Boolean({ description: 'Whether the body is kept, so that it can be shown and replayed.' }),
  receivedAt: time,
  timings: Type.Object(optional({ read: Type.Number(), resolve: Type.Number(), accept: Type.Number() }), {
    description: 'Milliseconds until the body was read, the decision made and the answer ready.',
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
      description: 'How many requests this record stands for, where refused ones are summed up.',
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

const fields = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]))

export const request = Type.Object(
  {
    ...requestFields,
    ...optional({
      headers: {
        ...fields,
        description: 'Its headers without credentials and known secrets, where its body is kept.',
      },
      query: { ...fields, description: 'Its query, likewise.' },
      replays: Type.Array(id, { description: 'Its newest 20 replays.' }),
      trace: Type.Unsafe<object>({
        type: 'object',
        description: 'How each mapping was tried, of a request that was ignored or failed.',
      }),
    }),
  },
  { $id: 'Request' },
)

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

const runFields = {
  id,
  kind: Type.Enum(['run', 'heartbeat']),
  generation: Type.Integer(),
  sessionKey: Type.String(),
  state: Type.Enum(runStates),
  stage: Type.Enum(runStages, { description: 'How far it is; `state` is how its turn ended.' }),
  runner: Type.String(),
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
          description: 'What the tokens cost in US dollars, where the price of the model is known.',
        }),
      }),
    ),
    warnings: Type.Array(Type.String()),
    handedOver: Type.String({ description: 'The place in another system where the turn can be followed.' }),
    coalesce: Type.Object({
      key: Type.String(),
      keep: Type.Enum(['latest', 'all']),
      deadline: time,
      maxPerHour: Type.Integer(),
      ...optional({ count: Type.Integer(), requests: Type.Integer(), requestIds: Type.Array(id) }),
    }),
    pool: Type.String({ description: 'The policy whose `concurrency` limits it.' }),
    budget: Type.String({ description: 'The policy whose `budget` pays for it.' }),
    cancelRequestedAt: time,
    startedAt: time,
    ranAt: time,
    summarisedAt: time,
    deliveredAt: time,
    cancelledAt: time,
    summaryEventId: id,
    eventIds: Type.Array(id, { description: 'The events that a heartbeat has shown.' }),
    joined: Type.Array(Type.Object({ requestId: id, at: time, ...optional({ message: Type.String() }) }), {
      description: 'What joined a run that was cancelled before it could read it: the newest 100.',
    }),
    retries: Type.Array(
      Type.Object({
        at: time,
        state: Type.Enum(['failed', 'timed-out']),
        attempts: Type.Integer({ description: 'How many of its attempts came before.' }),
        ...optional({ error: runError, summaryEventId: id }),
      }),
      { description: 'How it ended each time before it was retried, oldest first.' },
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
    origin: Type.Object(optional({ requestId: id, runId: id, traceparent })),
    generation: Type.Integer(),
    createdAt: time,
    ...optional({
      endpoint: Type.String(),
      mapping: Type.String(),
      consumedAt: time,
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
    receipts: Type.Array(Type.Unknown({ description: 'What the channel answered for one part.' })),
    attempts: Type.Integer(),
    generation: Type.Integer(),
    createdAt: time,
    ...optional({
      runId: id,
      traceparent,
      by: Type.String({ description: 'The name of the token whose holder sent it, or replayed it last.' }),
      to: Type.String(),
      code: Type.String({ description: 'Why it is parked or skipped, as a stable code.' }),
      reason: Type.String(),
      firstTriedAt: time,
      unsureSince: time,
      nextAt: time,
      endedAt: time,
      forgottenAt,
    }),
  },
  { $id: 'Delivery' },
)

export const run = Type.Object(
  {
    ...runFields,
    summary: Type.Union([event, Type.Null()]),
    deliveries: Type.Array(delivery),
    timings: Type.Object(
      optional({ queuedMs: Type.Integer(), runMs: Type.Integer(), totalMs: Type.Integer() }),
    ),
    ...optional({
      progress: Type.Unsafe<object>({
        type: 'object',
        description: 'How far its turn is, while it is under way.',
      }),
    }),
  },
  { $id: 'Run' },
)

export const sessionItem = Type.Object(
  { key: Type.String(), turns: Type.Integer(), lastAt: time },
  { $id: 'SessionItem' },
)

export const session = Type.Object(
  {
    key: Type.String(),
    messages: Type.Array(
      Type.Object({
        role: Type.Enum(['user', 'assistant', 'summary']),
        text: Type.String(),
        at: time,
        turn: id,
      }),
    ),
  },
  { $id: 'Session' },
)

export const diagnostic = Type.Object(
  {
    severity: Type.Enum(['error', 'warning']),
    code: Type.String({ description: 'A stable code such as `UNKNOWN_KEY`.' }),
    message: Type.String(),
    ...optional({
      place: Type.Object({
        file: Type.String(),
        line: Type.Integer({ description: 'From 1.' }),
        column: Type.Integer({ description: 'From 1.' }),
        text: Type.String({ description: 'The line, with secrets redacted.' }),
        ...optional({ calledFile: Type.String(), caret: Type.Integer() }),
      }),
      hint: Type.String({ description: 'The suggested fix.' }),
    }),
  },
  { $id: 'Diagnostic' },
)

const difference = {
  added: Type.Array(Type.String()),
  changed: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
}
const changes = Type.Object(
  {
    mappings: Type.Object({ ...difference, reordered: Type.Boolean() }),
    endpoints: Type.Object(difference),
    transforms: Type.Object(difference),
    settings: Type.Array(Type.String({ description: 'A key of the configuration.' })),
    restart: Type.Array(Type.String({ description: 'A changed key that waits for a restart.' })),
  },
  { $id: 'Changes' },
)

const generationFields = {
  state: Type.Enum(['live', 'retired', 'rejected']),
  at: time,
  tookMs: Type.Number(),
  changes,
  diagnostics: Type.Array(diagnostic),
  ...optional({
    generation: Type.Integer({ description: 'Absent for one that was refused.' }),
    by: Type.String({
      description:
        'The name of the token whose holder reloaded or rolled back. Absent where the files changed.',
    }),
    digest: Type.String(),
    mappings: Type.Integer(),
    rolledBack: Type.Boolean({ description: 'Whether it is live in place of the files.' }),
    stands: Type.Boolean({ description: 'Whether the files are still as they were when they were refused.' }),
  }),
}

export const generationItem = Type.Object(generationFields, { $id: 'GenerationItem' })
export const generation = Type.Object(
  { ...generationFields, files: Type.Array(Type.String(), { description: 'The names of its files.' }) },
  { $id: 'Generation' },
)

const fileFields = {
  path: Type.String({ description: 'Absolute.' }),
  name: Type.String({
    description: 'The path from the folder of the configuration, or the whole one of a file elsewhere.',
  }),
}

export const generationFile = Type.Object(
  {
    ...fileFields,
    ...optional({ text: Type.String({ description: 'Absent where it is too long to be shown.' }) }),
  },
  { $id: 'GenerationFile' },
)

export const fileChange = Type.Object(
  {
    ...fileFields,
    change: Type.Enum(['added', 'changed', 'removed']),
    ...optional({
      before: Type.String(),
      after: Type.String(),
      isCut: Type.Literal(true),
    }),
  },
  { $id: 'FileChange' },
)

export const reloadResult = Type.Object(
  {
    outcome: Type.Enum(['live', 'unchanged', 'rejected']),
    ok: Type.Boolean(),
    tookMs: Type.Number(),
    changes,
    diagnostics: Type.Array(diagnostic),
    ...optional({ generation: Type.Integer(), digest: Type.String(), rolledBack: Type.Literal(true) }),
  },
  { $id: 'ReloadResult' },
)

const shadowDecision = Type.Object({
  outcome: Type.String(),
  mappings: Type.Array(Type.String()),
  actions: Type.Array(Type.String()),
  ...optional({ code: Type.String() }),
})

export const dryReload = Type.Object(
  {
    reload: reloadResult,
    ...optional({
      shadow: Type.Object({
        compared: Type.Integer({ description: 'How many stored requests were looked at.' }),
        same: Type.Integer(),
        summary: Type.Array(Type.String()),
        differences: Type.Array(
          Type.Object({
            id,
            endpoint: Type.String(),
            receivedAt: time,
            change: Type.String(),
            before: shadowDecision,
            after: shadowDecision,
          }),
        ),
        ...optional({
          stopped: Type.Integer({
            description: 'How many could not be compared, since a transform was stopped.',
          }),
          stops: Type.Array(Type.String({ description: 'A module, and what it would have reached.' })),
        }),
      }),
    }),
  },
  { $id: 'DryReload' },
)

export const health = Type.Object(
  {
    writable: Type.Boolean(),
    backlog: Type.Integer(),
    full: Type.Boolean(),
    events: Type.Integer(),
    fullOfEvents: Type.Boolean(),
    commits: Type.Integer(),
    ...optional({ reason: Type.String({ description: 'What to do about it.' }), brief: Type.String() }),
  },
  { $id: 'Health' },
)

export const budget = Type.Object(
  {
    key: Type.String({ description: 'The key of the configuration that sets it.' }),
    limit: Type.Object(optional({ runs: Type.Integer(), tokens: Type.Integer(), usd: Type.Number() })),
    runs: Type.Integer(),
    tokens: Type.Integer(),
    usd: Type.Number({ description: 'US dollars, as far as the prices of the models are known.' }),
    isSpent: Type.Boolean(),
  },
  { $id: 'Budget' },
)

const numbers = Type.Array(Type.Number())

export const series = Type.Object(
  {
    stepMs: Type.Integer({ description: 'The length of a step.' }),
    from: time,
    outcomes: Type.Object(Object.fromEntries(requestOutcomes.map((name) => [name, numbers])) as OutcomeLists),
    acceptMs: Type.Object(
      {
        p50: Type.Array(Type.Union([Type.Number(), Type.Null()])),
        p99: Type.Array(Type.Union([Type.Number(), Type.Null()])),
      },
      { description: 'From the head of an accepted request to its reply; null where none was accepted.' },
    ),
    backlog: numbers,
    tokens: numbers,
    usd: numbers,
  },
  { $id: 'Series' },
)

type OutcomeLists = Readonly<Record<(typeof requestOutcomes)[number], typeof numbers>>

export const cost = Type.Object(
  {
    name: Type.String({ description: 'The day, mapping, model or session; empty for turns that have none.' }),
    runs: Type.Integer({ description: 'How many turns.' }),
    tokens: Type.Integer({ description: 'Input and output together.' }),
    usd: Type.Number({ description: 'US dollars.' }),
    unpriced: Type.Integer({
      description: 'How many of these turns are not in `usd`, as their cost is not known.',
    }),
  },
  { $id: 'Cost' },
)

export const status = Type.Object(
  {
    heartbeat: Type.Object({
      state: Type.Enum(['idle', 'running', 'failing', 'quiet', 'budget']),
      failures: Type.Integer(),
      ...optional({ since: time, nextAt: time, code: Type.String() }),
    }),
    day: Type.String({ description: 'UTC: `2026-01-31`.' }),
    budgets: Type.Array(budget),
    backlog: Type.Object({ waiting: Type.Integer(), limit: Type.Integer() }),
    issues: Type.Object(
      Object.fromEntries(severities.map((each) => [each, Type.Integer()])) as Record<
        (typeof severities)[number],
        ReturnType<typeof Type.Integer>
      >,
      { description: 'Open issues by severity, the worst first.' },
    ),
    channels: Type.Array(
      Type.Object({
        channel: Type.String(),
        state: Type.Enum(['open', 'held', 'probing', 'unconfigured']),
        pending: Type.Integer(),
        parked: Type.Integer(),
        ...optional({
          code: Type.String(),
          reason: Type.String(),
          since: time,
          until: time,
          health: Type.Object({ ok: Type.Boolean(), at: time, ...optional({ detail: Type.String() }) }),
        }),
      }),
    ),
    sources: Type.Array(
      Type.Object({
        source: Type.String(),
        state: Type.Enum(['starting', 'working', 'failing', 'waiting', 'held-elsewhere', 'stopped']),
        detail: Type.String(),
        since: time,
        ...optional({
          times: Type.Record(Type.String(), time),
          counts: Type.Record(Type.String(), Type.Number()),
        }),
      }),
    ),
    hooks: Type.Object({ enabled: Type.Boolean(), path: Type.String() }),
    publicUrl: Type.Union([
      Type.String({
        description:
          'The address of the tunnel on the internet, without the path of hooks; null without one, and while it is down.',
      }),
      Type.Null(),
    ]),
    files: Type.Object({ watched: Type.Boolean(), readAt: time }),
    lastGood: Type.Union([
      Type.Object({ generation: Type.Integer(), files: Type.Array(Type.String()) }),
      Type.Null(),
    ]),
    nodes: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Another one after each start.' }),
        name: Type.String({ description: 'The name of its machine, or what it was given.' }),
        version: Type.String(),
        role: Type.Enum(['all', 'ingress']),
        startedAt: time,
        renewedAt: time,
        leads: Type.Array(Type.String(), { description: 'What it does for all nodes.' }),
        isSelf: Type.Boolean({ description: 'Whether it is the node that answers.' }),
        ...optional({
          generation: Type.Integer({ description: 'What is live on it, by its own number.' }),
          digest: Type.String({
            description: 'The beginning of the digest of that, the same on all nodes with the same files.',
          }),
          skewMs: Type.Integer({ description: 'How far its clock is ahead of that of the database.' }),
          wakeUp: Type.Enum(['notify', 'poll'], { description: 'How it hears of what other nodes did.' }),
        }),
      }),
    ),
    database: Type.Union([
      Type.Object({
        version: Type.String({ description: 'Of the server.' }),
        ...optional({
          oldestTransaction: Type.Object(
            { ageMs: Type.Integer(), by: Type.String() },
            { description: 'The oldest one that keeps the database from removing dead rows.' },
          ),
        }),
      }),
      Type.Null(),
    ]),
    log: Type.Object({ droppedLines: Type.Integer() }),
  },
  { $id: 'Status' },
)

const rate = Type.Object({ max: Type.Integer(), windowMs: Type.Integer() })

export const endpointItem = Type.Object(
  {
    name: Type.String({ description: 'The text of `match.path`, or of a policy.' }),
    policy: Type.Object({
      auth: Type.Enum(['token', 'signature', 'both', 'none'], { description: 'What a sender has to show.' }),
      ...optional({
        provider: Type.String(),
        rate: Type.Object(optional({ endpoint: rate, client: rate })),
        budget: Type.Object(optional({ runs: Type.Integer(), tokens: Type.Integer(), usd: Type.Number() })),
        expectEvery: Type.String({ description: 'Silence after which it counts as broken.' }),
      }),
    }),
    counts: Type.Record(Type.String(), Type.Integer(), {
      description: 'Requests by outcome since the gateway started.',
    }),
    ...optional({
      lastSeen: time,
      silence: Type.Object({
        expectEveryMs: Type.Integer(),
        silentForMs: Type.Integer(),
        isSilent: Type.Boolean(),
      }),
    }),
  },
  { $id: 'EndpointItem' },
)

export const mappingItem = Type.Object(
  {
    id: Type.String(),
    place: Type.String({ description: '`file:line:column`.' }),
    action: Type.Enum(['wake', 'agent']),
    hits: Type.Integer({ description: 'Requests that it decided since the gateway started.' }),
    ...optional({
      path: Type.String({ description: 'Absent: every endpoint.' }),
      description: Type.String(),
      lastMatch: time,
    }),
  },
  { $id: 'MappingItem' },
)

export const found = Type.Object(
  { kind: Type.Enum(['request', 'run', 'event', 'delivery', 'session', 'generation']), id: Type.String() },
  { $id: 'Found' },
)

export const issueStates = ['open', 'resolved', 'muted'] as const

export const issue = Type.Object(
  {
    key: Type.String({ description: 'Names it in the routes that change it.' }),
    code: Type.String({ description: 'Its kind, such as `TRANSFORM_FAILING`.' }),
    severity: Type.Enum(severities, { description: 'How bad it is; the worst is the first of these.' }),
    subject: Type.String({ description: 'What it is about: an endpoint, a mapping, a channel.' }),
    cause: Type.String({ description: 'One sentence.' }),
    next: Type.Object(
      {
        label: Type.String(),
        ...optional({
          command: Type.String({ description: 'A command to copy.' }),
          action: Type.Object({
            method: Type.String(),
            path: Type.String(),
            ...optional({
              body: Type.Unsafe<object>({ type: 'object', description: 'The body, where it has one.' }),
            }),
          }),
        }),
      },
      { description: 'The one next step.' },
    ),
    count: Type.Integer(),
    first: time,
    last: time,
    state: Type.Enum(issueStates),
    ...optional({
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
