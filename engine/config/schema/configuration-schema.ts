/**
 * Defines the schema of the configuration file, with type, default and documentation of every key. Defaults are defined
 * nowhere else.
 */

import { thinkingLevels } from '../values/fields.ts'
import { keyOfSource, mailbox, mailboxSetup } from '../values/mailbox.ts'
import * as key from './keywords.ts'
import { mappingList } from './mapping-schema.ts'
import { endpointPolicies } from './policy-schema.ts'
import { type PresetUse, presetList } from './preset-schema.ts'
import { type Static, Type } from './type.ts'

/** Rights of a token; each includes all before it. */
export const rights = ['read', 'operate', 'configure'] as const
export type Right = (typeof rights)[number]

/** Maximum delay of a Node.js timer. */
const maxTimerMs = 2 ** 31 - 1

const heartbeatPrompt = `This is a heartbeat: a regular look at what happened since the last one.
Read the events above, if there are any. Do what they ask of you within your own instructions, and tell the user what needs their attention, the most important first.
If nothing needs attention, answer with exactly {ackToken} and nothing else.`

const gateway = key.section('The process: listener, store, admin tokens.', {
  host: key.text('Address to listen on. Read at start only.', {
    default: '127.0.0.1',
    format: 'host',
    expects: 'an address or the name of a host',
    hint: 'Write it as 127.0.0.1, 0.0.0.0, "::" or localhost, and the port under `gateway.port`.',
  }),
  port: key.integer('Port to listen on; 0 takes a free one. Read at start only.', {
    minimum: 0,
    maximum: 65_535,
    default: 8787,
  }),
  auth: key.section('Who may use the admin surface.', {
    token: key.textOrTexts(
      'Token of the admin API, console and metrics; absent: both are off. A list during rotation.',
    ),
    tokens: key.list(
      'More tokens, each with a name and rights.',
      key.keys({
        name: key.required(
          key.text('Name of the holder, shown in the log and in records.', {
            pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
            expects: 'a name of at most 64 letters, digits, dots, dashes and underscores',
          }),
        ),
        token: key.required(key.text('The token.')),
        may: key.required(
          key.oneOf('`operate` also replays, cancels, sends and forgets; `configure` also reloads.', rights),
        ),
      }),
    ),
  }),
  metrics: key.section('Access to metrics without admin rights.', {
    token: key.textOrTexts('Token of `/metrics` and the details of `/readyz` only. A list during rotation.'),
  }),
  trustedProxies: key.texts(
    'Proxies whose X-Forwarded-For is trusted: addresses, ranges, or `loopback`, `linklocal`, `uniquelocal`.',
    { default: [] },
    {
      format: 'range',
      expects: 'an address, or a range of them',
      hint: 'Write it as 10.0.0.7, 10.0.0.0/8 or fd00::/8, or take `loopback`, `linklocal` or `uniquelocal`.',
    },
  ),
  dataDir: key.text('Folder of all stored data. Read at start only.', { default: './data' }),
  store: key.text('`sqlite`, or the address of a PostgreSQL database. Read at start only.', {
    pattern: '^(sqlite|postgres(ql)?://\\S+)$',
    default: 'sqlite',
    expects: '`sqlite` or a postgres:// address',
  }),
  log: key.section("The gateway's log on standard error.", {
    level: key.oneOf(
      'The lowest level that is logged.',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      { default: 'info' },
    ),
    format: key.oneOf('Default: pretty on a terminal, else json.', ['pretty', 'json']),
  }),
  limits: key.section('Limits of waiting work.', {
    backlog: key.integer('Queued runs, unsent deliveries or pending events above which requests get 503.', {
      minimum: 1,
      default: 1_000_000,
    }),
  }),
  issues: key.section('The open problems that `reveille issues` lists.', {
    notify: key.flag('Whether the main session gets an event per issue, at most once a day each.', {
      default: true,
    }),
    severity: key.oneOf(
      'The lowest severity sent to `channel` and `webhook`.',
      ['losing-events', 'failing', 'degraded', 'suspicious'],
      { default: 'failing' },
    ),
    channel: key.text('A configured channel that alerts a person, independent of any agent.'),
    to: key.text('An address of that channel. Default: its `defaultTo`.'),
    webhook: key.group('An address that is called when an issue opens or closes.', {
      url: key.required(
        key.text('An https address, or an http address of this machine.', {
          pattern: '^https?://[^\\s@]+$',
          format: 'privateUrl',
          expects: 'an https:// address, or one of this machine, without a user and a password',
        }),
      ),
      secret: key.required(
        key.text('Signs each call as Standard Webhooks do: `whsec_` and 24 or more bytes in base64.', {
          pattern: '^whsec_[A-Za-z0-9+/]{32,}={0,2}$',
          expects: '`whsec_` and 24 or more bytes in base64, as `openssl rand -base64 32` prints them',
        }),
      ),
    }),
  }),
})

const transformLimits = {
  timeout: key.duration('Time limit of one call.', { maxMs: maxTimerMs }),
  memoryMb: key.integer('Memory of one worker, in megabytes.', { minimum: 16, maximum: 65_536 }),
  concurrency: key.integer('Concurrent calls of one module.', { minimum: 1, maximum: 64 }),
}

const transforms = key.section('Limits of transforms.', {
  timeout: { ...key.required(transformLimits.timeout), default: '5s' },
  memoryMb: { ...key.required(transformLimits.memoryMb), default: 128 },
  concurrency: { ...key.required(transformLimits.concurrency), default: 4 },
  modules: key.byName(
    'The same limits for one module, by the value of `transform.module`.',
    key.keys(transformLimits),
    { default: {} },
  ),
})

const reload = key.section('How changed files go live.', {
  requireTests: key.flag('Whether a failing test in a mapping file refuses a change.', { default: true }),
  debounce: key.duration('Time that files must be unchanged before they are reloaded.', {
    default: '50ms',
    maxMs: 60_000,
  }),
  rest: key.duration('The same for a change that removes something or may be half saved.', {
    default: '1s',
    maxMs: 60_000,
  }),
  poll: key.flag('Whether to poll files, for file systems without change events.', { default: false }),
})

/** The plugin checks the other keys. */
const mailboxBlock = Type.Unsafe<
  Record<string, unknown> & Pick<PresetUse, 'model' | 'thinking'> & { allowUnsafeExternalContent?: boolean }
>({
  type: 'object',
  properties: {
    model: key.text(`Of the runs that the preset \`${mailbox}\` makes; \`hooks.presets\` may say another.`),
    thinking: key.oneOf('Thinking level of those runs.', thinkingLevels),
    allowUnsafeExternalContent: key.flag('Whether mails bypass the boundary.'),
  },
  default: {},
  description: `The mailbox that is watched; written by \`${mailboxSetup}\`. Empty: none is.`,
})

const hooks = key.section('Endpoints, senders and mappings.', {
  enabled: key.flag('Whether hooks are served.', { default: false }),
  token: key.textOrTexts('The token of all senders. A list during rotation.'),
  path: key.text('Path prefix of hooks; not `/`.', { default: '/hooks' }),
  allowQueryToken: key.flag('Whether `?token=` (deprecated) is accepted.', { default: true }),
  allowedSessionKeyPrefixes: key.texts('Prefixes of which a session key must have one. Absent: any key.'),
  defaultSessionKey: key.text('Session key of runs that name none. Absent: each has its own session.'),
  allowRequestSessionKey: key.flag('Whether a request to /agent may choose its session.', { default: true }),
  allowedAgentIds: key.texts('Allowed values of `agentId`; `*` or absent: any. One agent answers all.'),
  maxBodyBytes: key.integer('Limit of the decoded body, in bytes.', {
    minimum: 1,
    maximum: 104_857_600,
    default: 1_048_576,
  }),
  bodyTimeout: key.duration('Time limit for receiving the body.', { default: '10s', maxMs: maxTimerMs }),
  maxActions: key.integer('Limit of actions per request.', { minimum: 1, default: 100 }),
  maxRenderedBytes: key.integer('Limit of rendered bytes per request.', { minimum: 1, default: 262_144 }),
  presets: presetList,
  mappingsDir: key.text('Folder of mapping files, sub-folders too.', { default: './mappings' }),
  transformsDir: key.text('Folder of transform modules.', { default: './transforms' }),
  transforms,
  reload,
  endpoints: endpointPolicies,
  mappings: mappingList,
  [mailbox]: mailboxBlock,
})

const history = key.section('Retention.', {
  bodies: key.oneOf('Which bodies are kept.', ['none', 'failed', 'all'], { default: 'failed' }),
  keep: key.duration('Maximum age of history; of requests without effect the newest 100,000 per outcome.', {
    default: '7d',
  }),
  ignored: key.duration(
    'Time that bodies of ignored and skipped requests are kept, unless `bodies` is `all`.',
    { default: '1h' },
  ),
  maxBodyBytes: key.byteSize('The limit of kept bodies with headers and explanations; the oldest go first.', {
    default: '1GiB',
  }),
})

const deliveries = key.section('Retries of replies.', {
  retryFor: key.duration('Time that a delivery is retried before it is parked.', { default: '24h' }),
  retryUnsure: key.flag('Whether to resend a message that may have arrived, at the risk of a duplicate.', {
    default: false,
  }),
  maxMessages: key.integer('Limit of messages per reply; the rest is dropped with a note.', {
    minimum: 1,
    maximum: 1000,
    default: 10,
  }),
})

export const modelPattern = '^[^\\s/]+/\\S+$'
const modelName = { pattern: modelPattern, expects: '<provider>/<model>, such as openai/gpt-5' }

const models = key.other<readonly string[] | Record<string, { alias?: string }>>({
  type: ['array', 'object'],
  items: { type: 'string', ...modelName },
  propertyNames: modelName,
  additionalProperties: key.keys({
    alias: key.text('A short name of the model.', { pattern: '^[^/]*$', expects: 'a name without `/`' }),
  }),
  expects: 'a list of <provider>/<model>, or a map of them to {alias}',
  description: 'Allowed models. Absent: any.',
})

function timeOfDay(description: string) {
  return key.other<string>({
    type: 'string',
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    expects: 'a time of day such as 22:00',
    description,
  })
}

const quietHours = key.group('When the timer starts no heartbeat. Events with mode `now` still do.', {
  from: key.required(timeOfDay('Begin, as HH:mm.')),
  to: key.required(timeOfDay('End, as HH:mm; on the next day if earlier than `from`.')),
  timezone: key.text('IANA time zone, such as Europe/Berlin.', { default: 'UTC' }),
})

const agentDefaults = key.section('Defaults of all runs.', {
  runner: key.text('A kind of runner, or a name in `agents.runners`.', { default: 'echo' }),
  model: key.text('<provider>/<model> or an alias of `models`.'),
  models,
  systemPrompt: key.text('The system prompt of every agent.'),
  thinking: key.oneOf('Thinking level.', thinkingLevels),
  timeoutSeconds: key.integer('Time limit of a run, all attempts together, in seconds.', {
    minimum: 1,
    maximum: 86_400,
    default: 600,
  }),
  concurrency: key.integer('Concurrent runs of different sessions.', {
    minimum: 1,
    maximum: 1000,
    default: 4,
  }),
  retry: key.section('Retries of failed turns.', {
    attempts: key.integer('Attempts per run, the first included.', { minimum: 1, maximum: 100, default: 3 }),
    backoff: key.duration('Delay before the second attempt; it doubles with each further one.', {
      default: '2s',
      maxMs: maxTimerMs,
    }),
    maxBackoff: key.duration('Limit of that delay.', { default: '2m', maxMs: maxTimerMs }),
  }),
  heartbeat: key.section('The regular turn of the main session.', {
    every: key.duration('Time between two heartbeats of the main session.', {
      default: '30m',
      maxMs: maxTimerMs,
    }),
    idle: key.flag('Whether a heartbeat without events calls the model.', { default: false }),
    ackToken: key.text('A reply that is only this string is not delivered.', { default: 'HEARTBEAT_OK' }),
    prompt: key.text('Prompt of a heartbeat; `{ackToken}` is replaced.', { default: heartbeatPrompt }),
    quietHours,
  }),
})

const sessions = key.section('History of conversations.', {
  maxCharacters: key.integer('Limit of the history in a prompt, in characters.', {
    minimum: 1000,
    maximum: 1_000_000,
    default: 200_000,
  }),
  maxMessages: key.integer('Limit of the history in a prompt, in messages.', {
    minimum: 2,
    maximum: 1000,
    default: 200,
  }),
  compaction: key.oneOf(
    'Whether the oldest turns of a longer history are dropped or summarised.',
    ['drop', 'summarise'],
    { default: 'drop' },
  ),
  idleExpiry: key.duration('Lifetime of a session with a generated key after its last turn.', {
    default: '24h',
  }),
})

const priceNotes = { minimum: 0, expects: 'an amount of US dollars for a million tokens' }

const prices = key.byName(
  'Prices by <provider>/<model>, besides or instead of the built-in list.',
  key.group('US dollars per million tokens.', {
    input: key.required(key.dollars('Per million input tokens.', priceNotes)),
    cachedInput: key.dollars("For those from the vendor's cache. Default: `input`.", priceNotes),
    output: key.required(key.dollars('Per million output tokens.', priceNotes)),
  }),
  { default: {} },
)

const agents = key.section('Runners, models, sessions, budgets.', {
  defaults: agentDefaults,
  sessions,
  budget: key.dailyBudget('Budget of all runs of a day (UTC).'),
  prices,
  providers: key.byName(
    'Providers of the runner `ai`, by the prefix of models: {apiKey}, or {kind, baseUrl, …}.',
    key.open,
    { default: {}, propertyNames: { pattern: '^[^\\s/]+$', expects: 'strings without spaces and slashes' } },
  ),
  runners: key.byName(
    'More runners by name.',
    Type.Unsafe<{ kind: string } & Record<string, unknown>>({
      type: 'object',
      required: ['kind'],
      properties: { kind: key.text('The kind of runner.') },
    }),
    { default: {} },
  ),
  route: key.group('Where replies of the main session go until `last` is known.', {
    channel: key.required(key.text('A configured channel.')),
    to: key.text('An address of that channel. Default: its `defaultTo`.'),
  }),
})

export const configurationSchema = key.keys({
  $schema: key.schemaKey,
  gateway,
  hooks,
  history,
  agents,
  deliveries,
  channels: key.byName('Channels by name.', key.open, {
    default: {},
    propertyNames: {
      pattern: '^(?!last$)[a-z][a-z0-9-]*$',
      expects: 'lower-case letters, digits and hyphens, a letter first; `last` is the last route',
    },
  }),
  sources: key.byName('Sources by name.', key.open, {
    default: {},
    propertyNames: {
      pattern: `^(?!${mailbox}$)[a-z][a-z0-9-]*$`,
      expects: `lower-case letters, digits and hyphens, a letter first; \`${mailbox}\` has its place in \`${keyOfSource(mailbox)}\``,
    },
  }),
  observers: key.byName('Observers (tracing) by name.', key.open, { default: {} }),
  plugins: key.texts('More plugins: packages, or paths.', { default: [] }),
})

/** The configuration file's value, defaults filled in. */
export type ConfigurationValue = Static<typeof configurationSchema>
