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

/** The longest wait of a Node.js timer. */
const maxTimerMs = 2 ** 31 - 1

const heartbeatPrompt = `This is a heartbeat: a regular look at what happened since the last one.
Read the events above, if there are any. Do what they ask of you within your own instructions, and tell the user what needs their attention, the most important first.
If nothing needs attention, answer with exactly {ackToken} and nothing else.`

const gateway = section('The process: where it listens, what it keeps, who is its admin.', {
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
        'Opens the admin API, console and metrics; absent: neither. A list during rotation.',
      ),
      tokens: Type.Array(
        keys({
          name: text('Who has it. The log and the records name it with what it is used for.', {
            pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
            expects: 'a name of at most 64 letters, digits, dots, dashes and underscores',
          }),
          token: text('Opens the same surface for what its holder may do.'),
          may: oneOf('`operate` also replays, cancels, sends and forgets; `configure` also reloads.', rights),
        }),
        { description: 'More tokens, each with a name and with what its holder may do.' },
      ),
    }),
  ),
  metrics: section(
    'Who may read the metrics, besides the admin.',
    optional({
      token: textOrTexts('Opens only `/metrics` and the details of `/readyz`. A list during rotation.'),
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
  dataDir: text('Folder of everything that is stored. Read at start only.', { default: './data' }),
  store: text('`sqlite`, or the address of a PostgreSQL database. Read at start only.', {
    pattern: '^(sqlite|postgres(ql)?://\\S+)$',
    default: 'sqlite',
    expects: '`sqlite` or a postgres:// address',
  }),
  log: section('What the gateway writes to standard error.', {
    level: oneOf(
      'The least important lines that are still written.',
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
    notify: flag('Whether the main session gets an event about each, at most one a day.', { default: true }),
    severity: oneOf(
      'The lowest severity that `channel` and `webhook` are notified of.',
      ['losing-events', 'failing', 'degraded', 'suspicious'],
      { default: 'failing' },
    ),
    ...optional({
      channel: text('A configured channel by which a person is told. Nothing of it depends on an agent.'),
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
        { description: 'An address that is called when an issue opens and when it closes.' },
      ),
    }),
  }),
})

const transformLimits = {
  timeout: duration('How long one call may take.', { maxMs: maxTimerMs }),
  memoryMb: integer('Memory of one worker, in megabytes.', { minimum: 16, maximum: 65_536 }),
  concurrency: integer('Calls of one module at one time.', { minimum: 1, maximum: 64 }),
}

const transforms = section('What transforms may use.', {
  timeout: { ...transformLimits.timeout, default: '5s' },
  memoryMb: { ...transformLimits.memoryMb, default: 128 },
  concurrency: { ...transformLimits.concurrency, default: 4 },
  modules: byName(
    'Other limits for single modules, by the value of `transform.module`.',
    keys(optional(transformLimits)),
    { default: {} },
  ),
})

const reload = section('How changed files go live.', {
  requireTests: flag('Whether a failing test of a mapping file keeps a change from going live.', {
    default: true,
  }),
  debounce: duration('How long files must rest before they are read again.', {
    default: '50ms',
    maxMs: 60_000,
  }),
  rest: duration('How long a change that removes something, or may be half saved, must rest.', {
    default: '1s',
    maxMs: 60_000,
  }),
  poll: flag('Whether files are looked at regularly, for file systems that report no changes.', {
    default: false,
  }),
})

/** The plugin checks the other keys. */
const mailboxBlock = Type.Unsafe<
  Record<string, unknown> & Pick<PresetUse, 'model' | 'thinking'> & { allowUnsafeExternalContent?: boolean }
>({
  type: 'object',
  properties: {
    model: text(`Of the runs that the preset \`${mailbox}\` makes; \`hooks.presets\` may say another.`),
    thinking: oneOf('The same for how much the model thinks.', thinkingLevels),
    allowUnsafeExternalContent: flag('Whether mails are handed over without the boundary.'),
  },
  default: {},
  description: `The mailbox that is watched; written by \`${mailboxSetup}\`. Empty: none is.`,
})

const hooks = section('Who may send what, and what comes of it.', {
  enabled: flag('Whether hooks are answered at all.', { default: false }),
  ...optional({ token: textOrTexts('The token of all senders. A list during rotation.') }),
  path: text('Where hooks live; not `/`.', { default: '/hooks' }),
  allowQueryToken: flag('Whether `?token=` (deprecated) is still taken.', { default: true }),
  ...optional({
    allowedSessionKeyPrefixes: texts('What a session key must begin with. Absent: anything.'),
    defaultSessionKey: text('Session key of runs that name none. Absent: each has its own session.'),
  }),
  allowRequestSessionKey: flag('Whether a request to /agent may choose its session.', { default: true }),
  ...optional({
    allowedAgentIds: texts('Allowed values of `agentId`; `*` or absent: any. One agent answers all.'),
  }),
  maxBodyBytes: integer('The longest body, decoded, in bytes.', {
    minimum: 1,
    maximum: 104_857_600,
    default: 1_048_576,
  }),
  bodyTimeout: duration('How long a sender may take for its body.', {
    default: '10s',
    maxMs: maxTimerMs,
  }),
  maxActions: integer('The most actions of one request.', { minimum: 1, default: 100 }),
  maxRenderedBytes: integer('The most bytes that the templates of one request may render.', {
    minimum: 1,
    default: 262_144,
  }),
  presets: presetList,
  mappingsDir: text('Folder of mapping files, sub-folders too.', { default: './mappings' }),
  transformsDir: text('Folder of transform modules.', { default: './transforms' }),
  transforms,
  reload,
  endpoints: endpointPolicies,
  mappings: mappingList,
  [mailbox]: mailboxBlock,
})

const history = section('What is kept of the past.', {
  bodies: oneOf('Whose bodies are kept.', ['none', 'failed', 'all'], { default: 'failed' }),
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

const deliveries = section('What becomes of replies that a channel does not take at once.', {
  retryFor: duration('How long a delivery is tried before it is parked, from its first try on.', {
    default: '24h',
  }),
  retryUnsure: flag('Whether what may have arrived is sent again where that may double it.', {
    default: false,
  }),
  maxMessages: integer('The limit of messages of one reply; the rest is dropped with a note.', {
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
  description: 'The models that may be asked for. Absent: any.',
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
    from: timeOfDay('When they begin.'),
    to: timeOfDay('When they end, on the next day if that is earlier.'),
    timezone: text('Where the clock stands: an IANA name such as Europe/Berlin.', { default: 'UTC' }),
  },
  { description: 'When the timer starts no turn. Events with the mode `now` still do.' },
)

const agentDefaults = section('What holds for every run that does not say otherwise.', {
  runner: text('A kind of runner, or a name in `agents.runners`.', { default: 'echo' }),
  ...optional({
    model: text('<provider>/<model> or an alias of `models`.'),
    models,
    systemPrompt: text('The system prompt of every agent.'),
    thinking: oneOf('How much the model thinks.', thinkingLevels),
  }),
  timeoutSeconds: integer('Time for one run, all its attempts together, in seconds.', {
    minimum: 1,
    maximum: 86_400,
    default: 600,
  }),
  concurrency: integer('Runs of different sessions at one time.', { minimum: 1, maximum: 1000, default: 4 }),
  retry: section('What becomes of a turn that failed and may succeed later.', {
    attempts: integer('Turns of one run that may fail, the first included.', {
      minimum: 1,
      maximum: 100,
      default: 3,
    }),
    backoff: duration('Wait before the second attempt; it doubles for each one after that.', {
      default: '2s',
      maxMs: maxTimerMs,
    }),
    maxBackoff: duration('The longest of those waits.', { default: '2m', maxMs: maxTimerMs }),
  }),
  heartbeat: section('The regular turn of the main session.', {
    every: duration('Time between two heartbeats of the main session.', {
      default: '30m',
      maxMs: maxTimerMs,
    }),
    idle: flag('Whether a heartbeat without events asks the model.', { default: false }),
    ackToken: text('A reply of only this text is not delivered.', { default: 'HEARTBEAT_OK' }),
    prompt: text('What a heartbeat asks; `{ackToken}` stands for that text.', { default: heartbeatPrompt }),
    ...optional({ quietHours }),
  }),
})

const sessions = section('What is remembered of conversations.', {
  maxCharacters: integer('The longest history that a turn is shown, in characters.', {
    minimum: 1000,
    maximum: 1_000_000,
    default: 200_000,
  }),
  maxMessages: integer('The most messages of a history that a turn is shown.', {
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
      input: dollars('For a million input tokens.', priceNotes),
      ...optional({
        cachedInput: dollars("For those from the vendor's cache. Default: `input`.", priceNotes),
      }),
      output: dollars('For a million output tokens.', priceNotes),
    },
    { description: 'US dollars for a million tokens.' },
  ),
  { default: {} },
)

const agents = section('Who answers, and how.', {
  defaults: agentDefaults,
  sessions,
  ...optional({ budget: dailyBudget('What all runs of one day (UTC) may cost.') }),
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
      { description: "Where the main session's first replies go." },
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
  channels: byName('Channels by name; one that is named is configured.', open, {
    default: {},
    names: {
      pattern: '^(?!last$)[a-z][a-z0-9-]*$',
      expects: 'lower-case letters, digits and hyphens, a letter first; `last` is the last route',
    },
  }),
  sources: byName('What plugins fetch events from, by name; one that is named is configured.', open, {
    default: {},
    names: {
      pattern: `^(?!${mailbox}$)[a-z][a-z0-9-]*$`,
      expects: `lower-case letters, digits and hyphens, a letter first; \`${mailbox}\` has its place in \`${keyOfSource(mailbox)}\``,
    },
  }),
  observers: byName(
    'Plugins that report what the gateway has done elsewhere, by name; one that is named is configured.',
    open,
    {
      default: {},
    },
  ),
  plugins: texts('More plugins: packages, or paths.', { default: [] }),
})

/** The configuration file's value, defaults filled in. */
export type ConfigurationValue = Static<typeof configurationSchema>
