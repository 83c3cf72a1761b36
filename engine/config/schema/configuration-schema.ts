/** The schema of the configuration file: every key's type, default and documentation. No other place knows a default. */

import { thinkingLevels } from '../settings.ts'
import { defineFileShape } from './file-shape.ts'
import {
  byName,
  dailyBudget,
  duration,
  keys,
  oneOf,
  open,
  schemaKey,
  section,
  text,
  textOrTexts,
} from './keywords.ts'
import { mappingList } from './mapping-schema.ts'
import { endpointPolicies } from './policy-schema.ts'
import { type PresetUse, presetList } from './preset-schema.ts'
import { type Static, Type } from './type.ts'

/** The longest wait of a Node.js timer. */
const longestTimerMs = 2 ** 31 - 1

const heartbeatPrompt = `This is a heartbeat: a regular look at what happened since the last one.
Read the events above, if there are any. Do what they ask of you within your own instructions, and tell the user what needs their attention, the most important first.
If nothing needs attention, answer with exactly {ackToken} and nothing else.`

const gateway = section(
  {
    host: text({ default: '127.0.0.1', description: 'Address to listen on. Read at start only.' }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8787,
      description: 'Port to listen on; 0 takes a free one. Read at start only.',
    }),
    auth: section(
      {
        token: Type.Optional(
          textOrTexts({
            minItems: 1,
            description:
              'Opens the admin API and the metrics; without it there are none. A list while it is being rotated: each is taken, and the command line shows the first.',
          }),
        ),
      },
      { description: 'Who may use the admin surface.' },
    ),
    trustedProxies: Type.Array(text(), {
      default: [],
      description:
        'Addresses, ranges such as 10.0.0.0/8, or `loopback`, `linklocal` and `uniquelocal`: proxies whose X-Forwarded-For is believed.',
    }),
    dataDir: text({
      default: './data',
      description: 'Folder of everything that is stored. Read at start only.',
    }),
    store: text({
      pattern: '^(sqlite|postgres(ql)?://\\S+)$',
      default: 'sqlite',
      expects: '`sqlite` or a postgres:// address',
      description: 'What records are kept in; this version knows `sqlite` alone. Read at start only.',
    }),
    log: section(
      {
        level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          description: 'The least important lines that are still written.',
        }),
        format: Type.Optional(
          oneOf(['pretty', 'json'], { description: 'Default: pretty on a terminal, else json.' }),
        ),
      },
      { description: 'What the gateway writes to standard error.' },
    ),
    limits: section(
      {
        backlog: Type.Integer({
          minimum: 1,
          default: 1_000_000,
          description:
            'Queued runs and unsent deliveries above which requests are answered 503; pending events above which wakes are.',
        }),
      },
      { description: 'How much may wait.' },
    ),
  },
  { description: 'The process: where it listens, what it keeps, who is its admin.' },
)

const transformTimeout = { description: 'How long one call may take.', atMostMs: longestTimerMs }
const transformMemory = { minimum: 16, maximum: 65_536, description: 'Memory of one worker, in megabytes.' }
const transformConcurrency = { minimum: 1, maximum: 64, description: 'Calls of one module at one time.' }

const transforms = section(
  {
    timeout: duration({ default: '5s', ...transformTimeout }),
    memoryMb: Type.Integer({ default: 128, ...transformMemory }),
    concurrency: Type.Integer({ default: 4, ...transformConcurrency }),
    modules: byName(
      keys({
        timeout: Type.Optional(duration(transformTimeout)),
        memoryMb: Type.Optional(Type.Integer(transformMemory)),
        concurrency: Type.Optional(Type.Integer(transformConcurrency)),
      }),
      { default: {}, description: 'Other limits for single modules, by the text of `transform.module`.' },
    ),
  },
  { description: 'What transforms may use.' },
)

const reload = section(
  {
    requireTests: Type.Boolean({
      default: true,
      description: 'Whether a failing test of a mapping file keeps a change from going live.',
    }),
    debounce: duration({
      default: '50ms',
      atMostMs: 60_000,
      description: 'How long files must rest before they are read again.',
    }),
    poll: Type.Boolean({
      default: false,
      description: 'Whether files are looked at regularly, for file systems that report no changes.',
    }),
  },
  { description: 'How changed files go live.' },
)

/** Keys that stand in `hooks.gmail` beside the mailbox. */
const ofGmailPreset = {
  model: text({
    description: 'Of the runs that the preset `gmail` makes; `hooks.presets` may say another.',
  }),
  thinking: oneOf(thinkingLevels, { description: 'The same for how much the model thinks.' }),
  allowUnsafeExternalContent: Type.Boolean({
    description: 'Whether the preset hands mails over without the boundary around what strangers wrote.',
  }),
}

/** Whether a key of `hooks.gmail` is for the preset, and says nothing of the mailbox. */
export function isOfGmailPreset(key: string): boolean {
  return Object.hasOwn(ofGmailPreset, key)
}

/** The plugin checks what it says of the mailbox. */
const gmail = Type.Unsafe<
  Record<string, unknown> & Pick<PresetUse, 'model' | 'thinking'> & { allowUnsafeExternalContent?: boolean }
>({
  type: 'object',
  properties: ofGmailPreset,
  default: {},
  description: 'The mailbox that is watched; written by `reveille webhooks gmail setup`. Empty: none is.',
})

const hooks = section(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether hooks are answered at all.' }),
    token: Type.Optional(
      textOrTexts({ minItems: 1, description: 'What senders must show; a list while it is being rotated.' }),
    ),
    path: text({ default: '/hooks', description: 'Where hooks live; not `/`.' }),
    allowQueryToken: Type.Boolean({
      default: true,
      description: 'Whether `?token=` (deprecated) is still taken.',
    }),
    allowedSessionKeyPrefixes: Type.Optional(
      Type.Array(text(), { description: 'What a session key must begin with. Absent: anything.' }),
    ),
    defaultSessionKey: Type.Optional(
      text({
        description:
          'Session key of runs whose request and mapping give none. Absent: each has a session of its own.',
      }),
    ),
    allowRequestSessionKey: Type.Boolean({
      default: true,
      description: 'Whether a request to /agent may choose its session.',
    }),
    allowedAgentIds: Type.Optional(
      Type.Array(text(), {
        description:
          'What `agentId` of a request may be; `*`: anything. Absent: anything. One agent answers, whatever it is.',
      }),
    ),
    maxBodyBytes: Type.Integer({
      minimum: 1,
      maximum: 104_857_600,
      default: 1_048_576,
      description: 'The longest body, decoded, in bytes.',
    }),
    bodyTimeout: duration({
      default: '10s',
      atMostMs: longestTimerMs,
      description: 'How long a sender may take for its body.',
    }),
    maxActions: Type.Integer({ minimum: 1, default: 100, description: 'The most actions of one request.' }),
    maxRenderedBytes: Type.Integer({
      minimum: 1,
      default: 262_144,
      description: 'The most bytes that the templates of one request may render.',
    }),
    presets: presetList,
    mappingsDir: text({ default: './mappings', description: 'Folder of mapping files, sub-folders too.' }),
    transformsDir: text({ default: './transforms', description: 'Folder of transform modules.' }),
    transforms,
    reload,
    endpoints: endpointPolicies,
    mappings: mappingList,
    gmail,
  },
  { description: 'Who may send what, and what comes of it.' },
)

const history = section(
  {
    bodies: oneOf(['none', 'failed', 'all'], { default: 'failed', description: 'Whose bodies are kept.' }),
    keep: duration({
      default: '7d',
      description:
        'How long history is kept; of requests that caused nothing the newest 100,000 of each outcome at most.',
    }),
  },
  { description: 'What is kept of the past.' },
)

const deliveries = section(
  {
    retryFor: duration({
      default: '24h',
      description: 'How long a delivery is tried before it is parked, from its first try on.',
    }),
    retryUnsure: Type.Boolean({
      default: false,
      description: 'Whether what may have arrived is sent again where that may double it.',
    }),
    maxMessages: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 10,
      description: 'Most messages that one reply becomes; of a longer one the rest is named and not sent.',
    }),
  },
  { description: 'What becomes of replies that a channel does not take at once.' },
)

const models = Type.Unsafe<readonly string[] | Record<string, { alias?: string }>>({
  type: ['array', 'object'],
  items: text(),
  additionalProperties: keys({ alias: Type.Optional(text({ description: 'A short name of the model.' })) }),
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

const agents = section(
  {
    defaults: section(
      {
        runner: text({ default: 'echo', description: 'A kind of runner, or a name in `agents.runners`.' }),
        model: Type.Optional(text({ description: '<provider>/<model> or an alias of `models`.' })),
        models: Type.Optional(models),
        systemPrompt: Type.Optional(text({ description: 'What every agent is told first.' })),
        thinking: Type.Optional(oneOf(thinkingLevels, { description: 'How much the model thinks.' })),
        timeoutSeconds: Type.Integer({
          minimum: 1,
          maximum: 86_400,
          default: 600,
          description: 'Time for one run, all its attempts together, in seconds.',
        }),
        concurrency: Type.Integer({
          minimum: 1,
          maximum: 1000,
          default: 4,
          description: 'Runs of different sessions at one time.',
        }),
        retry: section(
          {
            attempts: Type.Integer({
              minimum: 1,
              maximum: 100,
              default: 3,
              description: 'Turns of one run that may fail, the first included.',
            }),
            backoff: duration({
              default: '2s',
              atMostMs: longestTimerMs,
              description: 'Wait before the second attempt; it doubles for each one after that.',
            }),
            maxBackoff: duration({
              default: '2m',
              atMostMs: longestTimerMs,
              description: 'The longest of those waits.',
            }),
          },
          { description: 'What becomes of a turn that failed and may succeed later.' },
        ),
        heartbeat: section(
          {
            every: duration({
              default: '30m',
              atMostMs: longestTimerMs,
              description: 'Time between two heartbeats of the main session.',
            }),
            idle: Type.Boolean({
              default: false,
              description: 'Whether a heartbeat without events asks the model.',
            }),
            ackToken: text({
              default: 'HEARTBEAT_OK',
              description: 'A reply of only this text is not delivered.',
            }),
            prompt: text({
              default: heartbeatPrompt,
              description: 'What a heartbeat asks; `{ackToken}` stands for that text.',
            }),
            quietHours: Type.Optional(
              keys(
                {
                  from: timeOfDay('When they begin.'),
                  to: timeOfDay('When they end, on the next day if that is earlier.'),
                  timezone: text({
                    default: 'UTC',
                    description: 'Where the clock stands: an IANA name such as Europe/Berlin.',
                  }),
                },
                {
                  description:
                    'When the timer asks nothing. Events that ask for `now` are heard all the same.',
                },
              ),
            ),
          },
          { description: 'The regular turn of the main session.' },
        ),
      },
      { description: 'What holds for every run that does not say otherwise.' },
    ),
    sessions: section(
      {
        maxCharacters: Type.Integer({
          minimum: 1000,
          maximum: 1_000_000,
          default: 200_000,
          description: 'The longest history that a turn is shown, in characters.',
        }),
        maxMessages: Type.Integer({
          minimum: 2,
          maximum: 1000,
          default: 200,
          description: 'The most messages of a history that a turn is shown.',
        }),
        compaction: oneOf(['drop', 'summarise'], {
          default: 'drop',
          description:
            'What becomes of the oldest turns of a longer history: they go, or the runner puts a summary in their place.',
        }),
        idleExpiry: duration({
          default: '24h',
          description: 'How long a session lives whose key nobody chose, after its last turn.',
        }),
      },
      { description: 'What is remembered of conversations.' },
    ),
    budget: Type.Optional(dailyBudget('What all runs of one day (UTC) may cost.')),
    providers: byName(open(), {
      default: {},
      names: { pattern: '^[^\\s/]+$', expects: 'text without spaces and slashes' },
      description:
        'Model providers of the runner `ai`, by the name that models begin with: {apiKey}, or {kind, baseUrl, …}.',
    }),
    runners: byName(
      Type.Unsafe<{ kind: string } & Record<string, unknown>>({
        type: 'object',
        required: ['kind'],
        properties: { kind: text({ description: 'The kind of runner.' }) },
      }),
      { default: {}, description: 'More runners by name.' },
    ),
    route: Type.Optional(
      keys(
        {
          channel: text({ description: 'A configured channel.' }),
          to: Type.Optional(text({ description: 'An address of that channel. Default: its `defaultTo`.' })),
        },
        { description: "Where the main session's first replies go." },
      ),
    ),
  },
  { description: 'Who answers, and how.' },
)

export const configurationSchema = keys({
  $schema: schemaKey,
  gateway,
  hooks,
  history,
  agents,
  deliveries,
  channels: byName(open(), {
    default: {},
    names: {
      pattern: '^[a-z][a-z0-9-]*$',
      expects: 'lower-case letters, digits and hyphens, a letter first',
    },
    description: 'Channels by name; one that is named is configured.',
  }),
  sources: byName(open(), {
    default: {},
    names: {
      pattern: '^(?!gmail$)[a-z][a-z0-9-]*$',
      expects:
        'lower-case letters, digits and hyphens, a letter first; `gmail` has its place in `hooks.gmail`',
    },
    description: 'What plugins fetch events from, by name; one that is named is configured.',
  }),
  plugins: Type.Array(text(), { default: [], description: 'More plugins: packages, or paths.' }),
})

export const configurationShape = defineFileShape(configurationSchema, [['hooks', 'mappings']])

/** The configuration file's value, defaults filled in. */
export type ConfigurationValue = Static<typeof configurationSchema>
