/** Describes the records that the API answers. The types of the store and of dispatch are held to them where handlers return these. */

import { Type } from '@reveille/engine/schema'
import {
  database,
  delivery,
  event,
  id,
  node,
  optional,
  requestFields,
  runFields,
  sessionMessage,
  time,
} from '../../store/record-schemas.ts'
import { requestOutcomes, severities } from '../../store/records.ts'

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
        description: 'Result of each mapping, for a request that was ignored or failed.',
      }),
    }),
  },
  { $id: 'Request' },
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
        description: 'Progress of its turn, while it is under way.',
      }),
    }),
  },
  { $id: 'Run' },
)

export const session = Type.Object(
  {
    key: Type.String(),
    messages: Type.Array(sessionMessage),
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
    rolledBack: Type.Boolean({ description: 'True if it is live in place of the files.' }),
    isCurrent: Type.Boolean({
      description: 'True if the files are unchanged since they were refused.',
    }),
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
        compared: Type.Integer({ description: 'Number of stored requests examined.' }),
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
            description: 'Number of requests that could not be compared, because a transform was stopped.',
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
    ...optional({ reason: Type.String({ description: 'Advice on the problem.' }), brief: Type.String() }),
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

export const status = Type.Object(
  {
    heartbeat: Type.Object({
      state: Type.Enum(['idle', 'running', 'failing', 'quiet', 'budget']),
      failures: Type.Integer(),
      ...optional({ since: time, nextAt: time, code: Type.String() }),
    }),
    day: Type.String({ description: 'UTC: `2026-01-31`.' }),
    budgets: Type.Array(budget),
    runs: Type.Object({ queued: Type.Integer(), running: Type.Integer(), parked: Type.Integer() }),
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
    files: Type.Object({
      watched: Type.Boolean({ description: 'False: they are read on request only.' }),
      readAt: time,
    }),
    lastGood: Type.Union([
      Type.Object({ generation: Type.Integer(), files: Type.Array(Type.String()) }),
      Type.Null(),
    ]),
    nodes: Type.Array(node),
    database: Type.Union([database, Type.Null()]),
    log: Type.Object({ droppedLines: Type.Integer() }),
  },
  { $id: 'Status' },
)

const rate = Type.Object({ max: Type.Integer(), windowMs: Type.Integer() })

export const endpointItem = Type.Object(
  {
    name: Type.String({ description: 'The text of `match.path`, or of a policy.' }),
    policy: Type.Object({
      auth: Type.Enum(['token', 'signature', 'both', 'none'], {
        description: 'Authentication that a sender needs.',
      }),
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
