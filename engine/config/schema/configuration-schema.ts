/**
 * Defines the schema of the configuration file, with type, default and documentation of every key. Defaults are defined
 * nowhere else.
 */

import { thinkingLevels } from '../values/fields.ts'
import { keyOfSource, mailbox, mailboxSetup } from '../values/mailbox.ts'
import {
  byName,
  byteSize,
  dailyBudget,
  dollars,
  duration,
  flag,
  integer,
  keys,
  oneOf,
  open,
  optional,
  schemaKey,
  section,
  text,
  textOrTexts,
  texts,
} from './keywords.ts'
import { mappingList } from './mapping-schema.ts'
import { endpointPolicies } from './policy-schema.ts'
import { type PresetUse, presetList } from './preset-schema.ts'
import { type Static, Type } from './type.ts'

/** What the holder of a token may do, each right with all before it. */
export const rights = ['read', 'operate', 'configure'] as const
export type Right = (typeof rights)[number]

/** Maximum delay of a Node.js timer. */
const maxTimerMs = 2 ** 31 - 1

const heartbeatPrompt = `This is a heartbeat: a regular look at what happened since the last one.
Read the events above, if there are any. Do what they ask of you within your own instructions, and tell the user what needs their attention, the most important first.
If nothing needs attention, answer with exactly {ackToken} and nothing else.`

const gateway = section('The process: listener, store, admin tokens.', {
  host: text('Address to listen on. Read at start only.', {
    default: '127.0.0.1',
    form: 'host',
    expects: 'an address or the name of a host',
    hint: 'Write it as 127.0.0.1, 0.0.0.0, "::" or localhost, and the port under `gateway.port`.',
  }),
  port: integer('Port to listen on; 0 takes a free one. Read at start only.', {
    minimum: 0,
    maximum: 65_535,
    default: 8787,
  }),
  auth: section(
    'Who may use the admin surface.',
    optional({
      token: textOrTexts(
        'Token of the admin API, console and metrics; absent: both are off. A list during rotation.',
      ),
      tokens: Type.Array(
        keys({
          name: text('Name of the holder, shown in the log and in records.', {
            pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
            expects: 'a name of at most 64 letters, digits, dots, dashes and underscores',
          }),
          token: text('The token.'),
          may: oneOf('`operate` also replays, cancels, sends and forgets; `configure` also reloads.', rights),
        }),
        { description: 'More tokens, each with a name and rights.' },
      ),
    }),
  ),
  metrics: section(
    'Access to metrics without admin rights.',
    optional({
      token: textOrTexts('Token of `/metrics` and the details of `/readyz` only. A list during rotation.'),
    }),
  ),
  trustedProxies: texts(
    'Proxies whose X-Forwarded-For is trusted: addresses, ranges, or `loopback`, `linklocal`, `uniquelocal`.',
    { default: [] },
    {
      form: 'range',
      expects: 'an address, or a range of them',
      hint: 'Write it as 10.0.0.7, 10.0.0.0/8 or fd00::/8, or take `loopback`, `linklocal` or `uniquelocal`.',
    },
  ),
  dataDir: text('Folder of all stored data. Read at start only.', { default: './data' }),
  store: text('`sqlite`, or the address of a PostgreSQL database. Read at start only.', {
    pattern: '^(sqlite|postgres(ql)?://\\S+)$',
    default: 'sqlite',
    expects: '`sqlite` or a postgres:// address',
  }),
  log: section('What the gateway writes to standard error.', {
    level: oneOf(
      'The lowest level that is logged.',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      { default: 'info' },
    ),
    ...optional({ format: oneOf('Default: pretty on a terminal, else json.', ['pretty', 'json']) }),
  }),
  limits: section('How much may wait.', {
    backlog: integer('Queued runs, unsent deliveries or pending events above which requests get 503.', {
      minimum: 1,
      default: 1_000_000,
    }),
  }),
  issues: section('The open problems that `reveille issues` lists.', {
    notify: flag('Whether the main session gets an event per issue, at most once a day each.', {
      default: true,
    }),
    severity: oneOf(
      'The lowest severity sent to `channel` and `webhook`.',
      ['losing-events', 'failing', 'degraded', 'suspicious'],
      { default: 'failing' },
    ),
    ...optional({
      channel: text('A configured channel that alerts a person, independent of any agent.'),
      to: text('An address of that channel. Default: its `defaultTo`.'),
      webhook: keys(
        {
          url: text('An https address, or an http address of this machine.', {
            pattern: '^https?://[^\\s@]+$',
            form: 'privateUrl',
            expects: 'an https:// address, or one of this machine, without a user and a password',
          }),
          secret: text('Signs each call as Standard Webhooks do: `whsec_` and 24 or more bytes in base64.', {
            pattern: '^whsec_[A-Za-z0-9+/]{32,}={0,2}$',
            expects: '`whsec_` and 24 or more bytes in base64, as `openssl rand -base64 32` prints them',
          }),
        },
        { description: 'An address that is called when an issue opens or closes.' },
      ),
    }),
  }),
})

const transformLimits = {
  timeout: duration('Time limit of one call.', { maxMs: maxTimerMs }),
  memoryMb: integer('Memory of one worker, in megabytes.', { minimum: 16, maximum: 65_536 }),
  concurrency: integer('Concurrent calls of one module.', { minimum: 1, maximum: 64 }),
}

const transforms = section('Limits of transforms.', {
  timeout: { ...transformLimits.timeout, default: '5s' },
  memoryMb: { ...transformLimits.memoryMb, default: 128 },
  concurrency: { ...transformLimits.concurrency, default: 4 },
  modules: byName(
    'The same limits for one module, by the value of `transform.module`.',
    keys(optional(transformLimits)),
    { default: {} },
  ),
})

const reload = section('How changed files go live.', {
  requireTests: flag('Whether a failing test in a mapping file refuses a change.', { default: true }),
  debounce: duration('How long files must be unchanged before they are reloaded.', {
    default: '50ms',
    maxMs: 60_000,
  }),
  rest: duration('The same for a change that removes something or may be half saved.', {
    default: '1s',
    maxMs: 60_000,
  }),
  poll: flag('Whether to poll files, for file systems without change events.', { default: false }),
})

/** The plugin checks the other keys. */
const mailboxBlock = Type.Unsafe<
  Record<string, unknown> & Pick<PresetUse, 'model' | 'thinking'> & { allowUnsafeExternalContent?: boolean }
>({
  type: 'object',
  properties: {
    model: text(`Of the runs that the preset \`${mailbox}\` makes; \`hooks.presets\` may say another.`),
    thinking: oneOf('Thinking level of those runs.', thinkingLevels),
    allowUnsafeExternalContent: flag('Whether mails bypass the boundary.'),
  },
  default: {},
  description: `The mailbox that is watched; written by \`${mailboxSetup}\`. Empty: none is.`,
})

const hooks = section('Endpoints, senders and mappings.', {
  enabled: flag('Whether hooks are served.', { default: false }),
  ...optional({ token: textOrTexts('The token of all senders. A list during rotation.') }),
  path: text('Path prefix of hooks; not `/`.', { default: '/hooks' }),
  allowQueryToken: flag('Whether `?token=` (deprecated) is accepted.', { default: true }),
  ...optional({
    allowedSessionKeyPrefixes: texts('Prefixes of which a session key must have one. Absent: any key.'),
    defaultSessionKey: text('Session key of runs that name none. Absent: each has its own session.'),
  }),
  allowRequestSessionKey: flag('Whether a request to /agent may choose its session.', { default: true }),
  ...optional({
    allowedAgentIds: texts('Allowed values of `agentId`; `*` or absent: any. One agent answers all.'),
  }),
  maxBodyBytes: integer('Limit of the decoded body, in bytes.', {
    minimum: 1,
    maximum: 104_857_600,
    default: 1_048_576,
  }),
  bodyTimeout: duration('Time limit for receiving the body.', { default: '10s', maxMs: maxTimerMs }),
  maxActions: integer('Limit of actions per request.', { minimum: 1, default: 100 }),
  maxRenderedBytes: integer('Limit of rendered bytes per request.', { minimum: 1, default: 262_144 }),
  presets: presetList,
  mappingsDir: text('Folder of mapping files, sub-folders too.', { default: './mappings' }),
  transformsDir: text('Folder of transform modules.', { default: './transforms' }),
  transforms,
  reload,
  endpoints: endpointPolicies,
  mappings: mappingList,
  [mailbox]: mailboxBlock,
})

const history = section('Retention.', {
  bodies: oneOf('Which bodies are kept.', ['none', 'failed', 'all'], { default: 'failed' }),
  keep: duration('How long history is kept; of requests without effect the newest 100,000 per outcome.', {
    default: '7d',
  }),
  ignored: duration('How long bodies of ignored and skipped requests are kept, unless `bodies` is `all`.', {
    default: '1h',
  }),
  maxBodyBytes: byteSize('The limit of kept bodies with headers and explanations; the oldest go first.', {
    default: '1GiB',
  }),
})

const deliveries = section('Retries of replies.', {
  retryFor: duration('How long a delivery is retried before it is parked.', { default: '24h' }),
  retryUnsure: flag('Whether to resend a message that may have arrived, at the risk of a duplicate.', {
    default: false,
  }),
  maxMessages: integer('Limit of messages per reply; the rest is dropped with a note.', {
    minimum: 1,
    maximum: 1000,
    default: 10,
  }),
})

export const modelPattern = '^[^\\s/]+/\\S+$'
const modelName = { pattern: modelPattern, expects: '<provider>/<model>, such as openai/gpt-5' }

const models = Type.Unsafe<readonly string[] | Record<string, { alias?: string }>>({
  type: ['array', 'object'],
  items: Type.String(modelName),
  propertyNames: modelName,
  additionalProperties: keys(
    optional({
      alias: text('A short name of the model.', { pattern: '^[^/]*$', expects: 'a name without `/`' }),
    }),
  ),
  expects: 'a list of <provider>/<model>, or a map of them to {alias}',
  description: 'Allowed models. Absent: any.',
})

function timeOfDay(description: string) {
  return Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    expects: 'a time of day such as 22:00',
    description,
  })
}

const quietHours = keys(
  {
    from: timeOfDay('Begin, as HH:mm.'),
    to: timeOfDay('End, as HH:mm; on the next day if earlier than `from`.'),
    timezone: text('IANA time zone, such as Europe/Berlin.', { default: 'UTC' }),
  },
  { description: 'When the timer starts no heartbeat. Events with mode `now` still do.' },
)

const agentDefaults = section('Defaults of all runs.', {
  runner: text('A kind of runner, or a name in `agents.runners`.', { default: 'echo' }),
  ...optional({
    model: text('<provider>/<model> or an alias of `models`.'),
    models,
    systemPrompt: text('The system prompt of every agent.'),
    thinking: oneOf('Thinking level.', thinkingLevels),
  }),
  timeoutSeconds: integer('Time limit of a run, all attempts together, in seconds.', {
    minimum: 1,
    maximum: 86_400,
    default: 600,
  }),
  concurrency: integer('Concurrent runs of different sessions.', { minimum: 1, maximum: 1000, default: 4 }),
  retry: section('Retries of failed turns.', {
    attempts: integer('Attempts per run, the first included.', { minimum: 1, maximum: 100, default: 3 }),
    backoff: duration('Delay before the second attempt; it doubles with each further one.', {
      default: '2s',
      maxMs: maxTimerMs,
    }),
    maxBackoff: duration('Limit of that delay.', { default: '2m', maxMs: maxTimerMs }),
  }),
  heartbeat: section('The regular turn of the main session.', {
    every: duration('Time between two heartbeats of the main session.', {
      default: '30m',
      maxMs: maxTimerMs,
    }),
    idle: flag('Whether a heartbeat without events calls the model.', { default: false }),
    ackToken: text('A reply that is only this string is not delivered.', { default: 'HEARTBEAT_OK' }),
    prompt: text('Prompt of a heartbeat; `{ackToken}` is replaced.', { default: heartbeatPrompt }),
    ...optional({ quietHours }),
  }),
})

const sessions = section('History of conversations.', {
  maxCharacters: integer('Limit of the history in a prompt, in characters.', {
    minimum: 1000,
    maximum: 1_000_000,
    default: 200_000,
  }),
  maxMessages: integer('Limit of the history in a prompt, in messages.', {
    minimum: 2,
    maximum: 1000,
    default: 200,
  }),
  compaction: oneOf(
    'Whether the oldest turns of a longer history are dropped or summarised.',
    ['drop', 'summarise'],
    { default: 'drop' },
  ),
  idleExpiry: duration('How long a session with a generated key lives after its last turn.', {
    default: '24h',
  }),
})

const priceNotes = { minimum: 0, expects: 'an amount of US dollars for a million tokens' }

const prices = byName(
  'Prices by <provider>/<model>, besides or instead of the built-in list.',
  keys(
    {
      input: dollars('Per million input tokens.', priceNotes),
      ...optional({
        cachedInput: dollars("For those from the vendor's cache. Default: `input`.", priceNotes),
      }),
      output: dollars('Per million output tokens.', priceNotes),
    },
    { description: 'US dollars per million tokens.' },
  ),
  { default: {} },
)

const agents = section('Runners, models, sessions, budgets.', {
  defaults: agentDefaults,
  sessions,
  ...optional({ budget: dailyBudget('Budget of all runs of a day (UTC).') }),
  prices,
  providers: byName(
    'Providers of the runner `ai`, by the prefix of models: {apiKey}, or {kind, baseUrl, …}.',
    open,
    { default: {}, names: { pattern: '^[^\\s/]+$', expects: 'strings without spaces and slashes' } },
  ),
  runners: byName(
    'More runners by name.',
    Type.Unsafe<{ kind: string } & Record<string, unknown>>({
      type: 'object',
      required: ['kind'],
      properties: { kind: text('The kind of runner.') },
    }),
    { default: {} },
  ),
  ...optional({
    route: keys(
      {
        channel: text('A configured channel.'),
        ...optional({ to: text('An address of that channel. Default: its `defaultTo`.') }),
      },
      { description: 'Where replies of the main session go until `last` is known.' },
    ),
  }),
})

export const configurationSchema = keys({
  $schema: schemaKey,
  gateway,
  hooks,
  history,
  agents,
  deliveries,
  channels: byName('Channels by name.', open, {
    default: {},
    names: {
      pattern: '^(?!last$)[a-z][a-z0-9-]*$',
      expects: 'lower-case letters, digits and hyphens, a letter first; `last` is the last route',
    },
  }),
  sources: byName('Sources by name.', open, {
    default: {},
    names: {
      pattern: `^(?!${mailbox}$)[a-z][a-z0-9-]*$`,
      expects: `lower-case letters, digits and hyphens, a letter first; \`${mailbox}\` has its place in \`${keyOfSource(mailbox)}\``,
    },
  }),
  observers: byName('Observers (tracing) by name.', open, { default: {} }),
  plugins: texts('More plugins: packages, or paths.', { default: [] }),
})

/** The configuration file's value, defaults filled in. */
export type ConfigurationValue = Static<typeof configurationSchema>
