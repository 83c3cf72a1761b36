/** Describes the records that the API answers. The types of the store and of dispatch are held to them where handlers return these. */

import {
  deliveryStates,
  eventStates,
  requestOutcomes,
  runStages,
  runStates,
  severities,
} from '../../store/records.ts'
import {
  anyObject,
  anything,
  either,
  exactly,
  flag,
  id,
  integer,
  list,
  map,
  named,
  nullable,
  number,
  object,
  oneOf,
  optional,
  text,
  time,
} from './schema.ts'

const by = text('The name of the token whose holder did it.')

export const route = named(
  'Route',
  object({ channel: text('The name of a channel.'), ...optional({ to: text('The recipient.') }) }),
)

const forgottenAt = integer('When an operator had its texts erased.')

const requestFields = {
  id,
  endpoint: text('The name behind `/hooks/`.'),
  generation: integer('What was live.'),
  outcome: oneOf(requestOutcomes),
  status: integer('The HTTP status that was answered.'),
  bodyBytes: integer(),
  bodyKept: flag('Whether the body is kept, so that it can be shown and replayed.'),
  receivedAt: time,
  timings: object(optional({ read: number(), resolve: number(), accept: number() }), {
    description: 'Milliseconds until the body was read, the decision made and the answer ready.',
  }),
  actions: list(
    object({
      kind: oneOf(['wake', 'agent']),
      id: text('The event of a wake, or the run.'),
      ...optional({ duplicateOf: id }),
    }),
  ),
  ...optional({
    code: text('The stable error code.'),
    reason: text('One sentence; it never quotes the body.'),
    failure: text('Why authentication failed, as a stable code. The sender does not learn it.'),
    mapping: text('The id of the mapping that decided.'),
    client: text('The address of the client.'),
    deliveryId: text('The id that the sender gave the delivery.'),
    replayOf: id,
    authenticatedBy: {
      ...oneOf(['provider-api']),
      description:
        'Present where it was asked for at the API of its provider, and was no request that came in.',
    },
    generationDigest: text('The beginning of the digest of the generation.'),
    node: text('The node that accepted it, where there are several.'),
    count: integer('How many requests this record stands for, where refused ones are summed up.'),
    by: text('Of a replay: the name of the token whose holder asked for it.'),
    forgottenAt,
    forgottenBy: by,
  }),
}

export const requestItem = named(
  'RequestItem',
  object(requestFields, { description: 'A request in a list.' }),
)

const fields = map(either(text(), list(text())))

export const request = named(
  'Request',
  object({
    ...requestFields,
    ...optional({
      headers: {
        ...fields,
        description: 'Its headers without credentials and known secrets, where its body is kept.',
      },
      query: { ...fields, description: 'Its query, likewise.' },
      replays: list(id, { description: 'Its newest 20 replays.' }),
      trace: anyObject('How each mapping was tried, of a request that was ignored or failed.'),
    }),
  }),
)

const runError = object({ code: text(), message: text(), retryable: flag() })
const attempt = object({
  number: integer(),
  startedAt: time,
  ...optional({
    endedAt: time,
    outcome: oneOf(['succeeded', 'failed', 'timed-out', 'cancelled', 'interrupted', 'held']),
    reason: text(),
  }),
})

const runFields = {
  id,
  kind: oneOf(['run', 'heartbeat']),
  generation: integer(),
  sessionKey: text(),
  state: oneOf(runStates),
  stage: oneOf(runStages, 'How far it is; `state` is how its turn ended.'),
  runner: text(),
  timeoutSeconds: integer(),
  wakeMode: oneOf(['now', 'next-heartbeat']),
  deliver: flag(),
  channel: text('A channel, or `last`.'),
  message: text('The message as rendered.'),
  prompt: text('The prompt as the runner gets it.'),
  attempts: list(attempt),
  createdAt: time,
  deliveryIds: list(id),
  ...optional({
    requestId: id,
    endpoint: text(),
    mapping: text(),
    name: text(),
    model: text(),
    thinking: text(),
    to: text(),
    deliverTo: list(route),
    reply: text(),
    error: runError,
    usage: object(
      optional({
        inputTokens: integer(),
        outputTokens: integer(),
        cachedInputTokens: integer(),
        reasoningTokens: integer(),
        usd: number('What the tokens cost in US dollars, where the price of the model is known.'),
      }),
    ),
    warnings: list(text()),
    handedOver: text('The place in another system where the turn can be followed.'),
    coalesce: object({
      key: text(),
      keep: oneOf(['latest', 'all']),
      deadline: time,
      maxPerHour: integer(),
      ...optional({ count: integer(), requests: integer(), requestIds: list(id) }),
    }),
    pool: text('The policy whose `concurrency` limits it.'),
    budget: text('The policy whose `budget` pays for it.'),
    cancelRequestedAt: time,
    startedAt: time,
    ranAt: time,
    summarisedAt: time,
    deliveredAt: time,
    cancelledAt: time,
    summaryEventId: id,
    eventIds: list(id, { description: 'The events that a heartbeat has shown.' }),
    joined: list(object({ requestId: id, at: time, ...optional({ message: text() }) }), {
      description: 'What joined a run that was cancelled before it could read it: the newest 100.',
    }),
    retries: list(
      object({
        at: time,
        state: oneOf(['failed', 'timed-out']),
        attempts: integer('How many of its attempts came before.'),
        ...optional({ error: runError, summaryEventId: id }),
      }),
      { description: 'How it ended each time before it was retried, oldest first.' },
    ),
    orders: list(object({ order: oneOf(['cancel', 'resume', 'retry']), at: time, by }), {
      description: 'Who cancelled, resumed or retried it, oldest first.',
    }),
    forgottenAt,
  }),
}

export const runItem = named('RunItem', object(runFields, { description: 'A run in a list.' }))

export const event = named(
  'Event',
  object({
    id,
    session: text(),
    state: oneOf(eventStates),
    text: text('The text as rendered.'),
    prompt: text('The text as the model gets it.'),
    mode: oneOf(['now', 'next-heartbeat']),
    trusted: flag(),
    origin: object(optional({ requestId: id, runId: id })),
    generation: integer(),
    createdAt: time,
    ...optional({ endpoint: text(), mapping: text(), consumedAt: time, consumedBy: id, forgottenAt }),
  }),
)

export const delivery = named(
  'Delivery',
  object({
    id,
    state: oneOf(deliveryStates),
    channel: text(),
    text: text('The reply as Markdown.'),
    receipts: list(anything('What the channel answered for one part.')),
    attempts: integer(),
    generation: integer(),
    createdAt: time,
    ...optional({
      runId: id,
      by: text('The name of the token whose holder sent it, or replayed it last.'),
      to: text(),
      code: text('Why it is parked or skipped, as a stable code.'),
      reason: text(),
      firstTriedAt: time,
      unsureSince: time,
      nextAt: time,
      endedAt: time,
      forgottenAt,
    }),
  }),
)

export const run = named(
  'Run',
  object({
    ...runFields,
    summary: nullable(event),
    deliveries: list(delivery),
    timings: object(optional({ queuedMs: integer(), runMs: integer(), totalMs: integer() })),
    ...optional({ progress: anyObject('How far its turn is, while it is under way.') }),
  }),
)

export const sessionItem = named('SessionItem', object({ key: text(), turns: integer(), lastAt: time }))

export const session = named(
  'Session',
  object({
    key: text(),
    messages: list(
      object({ role: oneOf(['user', 'assistant', 'summary']), text: text(), at: time, turn: id }),
    ),
  }),
)

export const diagnostic = named(
  'Diagnostic',
  object({
    severity: oneOf(['error', 'warning']),
    code: text('A stable code such as `UNKNOWN_KEY`.'),
    message: text(),
    ...optional({
      place: object({
        file: text(),
        line: integer('From 1.'),
        column: integer('From 1.'),
        text: text('The line, with secrets struck out.'),
        ...optional({ calledFile: text(), caret: integer() }),
      }),
      hint: text('The suggested fix.'),
    }),
  }),
)

const difference = { added: list(text()), changed: list(text()), removed: list(text()) }
const changes = named(
  'Changes',
  object({
    mappings: object({ ...difference, reordered: flag() }),
    endpoints: object(difference),
    transforms: object(difference),
    settings: list(text('A key of the configuration.')),
    restart: list(text('A changed key that waits for a restart.')),
  }),
)

const generationFields = {
  state: oneOf(['live', 'retired', 'rejected']),
  at: time,
  tookMs: number(),
  changes,
  diagnostics: list(diagnostic),
  ...optional({
    generation: integer('Absent for one that was refused.'),
    by: text('The name of the token whose holder reloaded or rolled back. Absent where the files changed.'),
    digest: text(),
    mappings: integer(),
    rolledBack: flag('Whether it is live in place of the files.'),
    stands: flag('Whether the files are still as they were when they were refused.'),
  }),
}

export const generationItem = named('GenerationItem', object(generationFields))
export const generation = named(
  'Generation',
  object({ ...generationFields, files: list(text(), { description: 'The names of its files.' }) }),
)

const fileFields = {
  path: text('Absolute.'),
  name: text('The path from the folder of the configuration, or the whole one of a file elsewhere.'),
}

export const generationFile = named(
  'GenerationFile',
  object({ ...fileFields, ...optional({ text: text('Absent where it is too long to be shown.') }) }),
)

export const fileChange = named(
  'FileChange',
  object({
    ...fileFields,
    change: oneOf(['added', 'changed', 'removed']),
    ...optional({
      before: text(),
      after: text(),
      isCut: exactly(true),
    }),
  }),
)

export const reloadResult = named(
  'ReloadResult',
  object({
    outcome: oneOf(['live', 'unchanged', 'rejected']),
    ok: flag(),
    tookMs: number(),
    changes,
    diagnostics: list(diagnostic),
    ...optional({ generation: integer(), digest: text(), rolledBack: exactly(true) }),
  }),
)

const shadowDecision = object({
  outcome: text(),
  mappings: list(text()),
  actions: list(text()),
  ...optional({ code: text() }),
})

export const dryReload = named(
  'DryReload',
  object({
    reload: reloadResult,
    ...optional({
      shadow: object({
        compared: integer('How many stored requests were looked at.'),
        same: integer(),
        summary: list(text()),
        differences: list(
          object({
            id,
            endpoint: text(),
            receivedAt: time,
            change: text(),
            before: shadowDecision,
            after: shadowDecision,
          }),
        ),
        ...optional({
          stopped: integer('How many could not be compared, since a transform was stopped.'),
          stops: list(text('A module, and what it would have reached.')),
        }),
      }),
    }),
  }),
)

export const health = named(
  'Health',
  object({
    writable: flag(),
    backlog: integer(),
    full: flag(),
    events: integer(),
    fullOfEvents: flag(),
    commits: integer(),
    ...optional({ reason: text('What to do about it.'), brief: text() }),
  }),
)

export const budget = named(
  'Budget',
  object({
    key: text('The key of the configuration that sets it.'),
    limit: object(optional({ runs: integer(), tokens: integer(), usd: number() })),
    runs: integer(),
    tokens: integer(),
    usd: number('US dollars, as far as the prices of the models are known.'),
    isSpent: flag(),
  }),
)

const numbers = list(number())

export const series = named(
  'Series',
  object({
    stepMs: integer('The length of a step.'),
    from: time,
    outcomes: object(Object.fromEntries(requestOutcomes.map((name) => [name, numbers])) as OutcomeLists),
    acceptMs: object(
      { p50: list(nullable(number())), p99: list(nullable(number())) },
      { description: 'From the head of an accepted request to its reply; null where none was accepted.' },
    ),
    backlog: numbers,
    tokens: numbers,
    usd: numbers,
  }),
)

type OutcomeLists = Readonly<Record<(typeof requestOutcomes)[number], typeof numbers>>

export const cost = named(
  'Cost',
  object({
    name: text('The day, mapping, model or session; empty for turns that have none.'),
    runs: integer('How many turns.'),
    tokens: integer('Input and output together.'),
    usd: number('US dollars.'),
    unpriced: integer('How many of these turns are not in `usd`, as their cost is not known.'),
  }),
)

export const status = named(
  'Status',
  object({
    heartbeat: object({
      state: oneOf(['idle', 'running', 'failing', 'quiet', 'budget']),
      failures: integer(),
      ...optional({ since: time, nextAt: time, code: text() }),
    }),
    day: text('UTC: `2026-01-31`.'),
    budgets: list(budget),
    backlog: object({ waiting: integer(), limit: integer() }),
    issues: object(
      Object.fromEntries(severities.map((each) => [each, integer()])) as Record<
        (typeof severities)[number],
        ReturnType<typeof integer>
      >,
      { description: 'Open issues by severity, the worst first.' },
    ),
    channels: list(
      object({
        channel: text(),
        state: oneOf(['open', 'held', 'probing', 'unconfigured']),
        pending: integer(),
        parked: integer(),
        ...optional({
          code: text(),
          reason: text(),
          since: time,
          until: time,
          health: object({ ok: flag(), at: time, ...optional({ detail: text() }) }),
        }),
      }),
    ),
    sources: list(
      object({
        source: text(),
        state: oneOf(['starting', 'working', 'failing', 'waiting', 'held-elsewhere', 'stopped']),
        detail: text(),
        since: time,
        ...optional({ times: map(time), counts: map(number()) }),
      }),
    ),
    hooks: object({ enabled: flag(), path: text() }),
    publicUrl: nullable(
      text(
        'The address of the tunnel on the internet, without the path of hooks; null without one, and while it is down.',
      ),
    ),
    files: object({ watched: flag(), readAt: time }),
    lastGood: nullable(object({ generation: integer(), files: list(text()) })),
    nodes: list(
      object({
        id: text('Another one after each start.'),
        name: text('The name of its machine, or what it was given.'),
        version: text(),
        role: oneOf(['all', 'ingress']),
        startedAt: time,
        renewedAt: time,
        leads: list(text(), { description: 'What it does for all nodes.' }),
        isSelf: flag('Whether it is the node that answers.'),
        ...optional({
          generation: integer('What is live on it, by its own number.'),
          digest: text('The beginning of the digest of that, the same on all nodes with the same files.'),
          skewMs: integer('How far its clock is ahead of that of the database.'),
          wakeUp: oneOf(['notify', 'poll'], 'How it hears of what other nodes did.'),
        }),
      }),
    ),
    database: nullable(
      object({
        version: text('Of the server.'),
        ...optional({
          oldestTransaction: object(
            { ageMs: integer(), by: text() },
            { description: 'The oldest one that keeps the database from removing dead rows.' },
          ),
        }),
      }),
    ),
    log: object({ droppedLines: integer() }),
  }),
)

const rate = object({ max: integer(), windowMs: integer() })

export const endpointItem = named(
  'EndpointItem',
  object({
    name: text('The text of `match.path`, or of a policy.'),
    policy: object({
      auth: oneOf(['token', 'signature', 'both', 'none'], 'What a sender has to show.'),
      ...optional({
        provider: text(),
        rate: object(optional({ endpoint: rate, client: rate })),
        budget: object(optional({ runs: integer(), tokens: integer(), usd: number() })),
        expectEvery: text('Silence after which it counts as broken.'),
      }),
    }),
    counts: map(integer(), { description: 'Requests by outcome since the gateway started.' }),
    ...optional({
      lastSeen: time,
      silence: object({ expectEveryMs: integer(), silentForMs: integer(), isSilent: flag() }),
    }),
  }),
)

export const mappingItem = named(
  'MappingItem',
  object({
    id: text(),
    place: text('`file:line:column`.'),
    action: oneOf(['wake', 'agent']),
    hits: integer('Requests that it decided since the gateway started.'),
    ...optional({
      path: text('Absent: every endpoint.'),
      description: text(),
      lastMatch: time,
    }),
  }),
)

export const found = named(
  'Found',
  object({ kind: oneOf(['request', 'run', 'event', 'delivery', 'session', 'generation']), id: text() }),
)

export const issueStates = ['open', 'resolved', 'muted'] as const

export const issue = named(
  'Issue',
  object({
    key: text('Names it in the routes that change it.'),
    code: text('Its kind, such as `TRANSFORM_FAILING`.'),
    severity: oneOf(severities, 'How bad it is; the worst is the first of these.'),
    subject: text('What it is about: an endpoint, a mapping, a channel.'),
    cause: text('One sentence.'),
    next: object(
      {
        label: text(),
        ...optional({
          command: text('A command to copy.'),
          action: object({
            method: text(),
            path: text(),
            ...optional({ body: anyObject('The body, where it has one.') }),
          }),
        }),
      },
      { description: 'The one next step.' },
    ),
    count: integer(),
    first: time,
    last: time,
    state: oneOf(issueStates),
    ...optional({
      mutedUntil: time,
      resolvedAt: time,
      reportedOn: text('The day (UTC) on which the main session last got an event about it.'),
      alerted: list(oneOf(['channel', 'webhook'], 'By which a person was alerted that it is open.')),
    }),
  }),
)
