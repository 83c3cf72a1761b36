/** Defines the schema of mapping files and mapping entries, with type, default and documentation of every key. */

import { byName, duration, flag, integer, keys, oneOf, optional, schemaKey, text } from './keywords.ts'
import { endpointPolicies } from './policy-schema.ts'
import { testList } from './test-schema.ts'
import { type Static, Type } from './type.ts'

/** Makes a string that may hold placeholders. */
function template(description: string) {
  return Type.String({ description })
}

/** The limit exceeds any use of it, and is far below the longest timer. */
const maxCoalesceMs = 86_400_000

/** A key takes memory for as long as it is remembered. */
const maxDedupeMs = 90 * 86_400_000

/** A wanted header: a string, any of a list, or tests that must all hold. */
export type HeaderPattern =
  | string
  | readonly string[]
  | { readonly exists?: boolean; readonly pattern?: string }

const headerPattern = Type.Unsafe<HeaderPattern>({
  type: ['string', 'array', 'object'],
  items: { type: 'string' },
  minItems: 1,
  properties: {
    exists: flag('Whether the header must be there, or must not.'),
    pattern: text('A regular expression that is found somewhere in it.'),
  },
  minProperties: 1,
  additionalProperties: false,
  expects: 'a string, a list of strings of which one must be equal, or a map of `exists` and `pattern`',
})

const match = keys(
  optional({
    path: text('The endpoint name; `:id` is any one segment. Absent or `/`: every endpoint.'),
    source: Type.String({ description: "The body's top-level `source` equals it." }),
    headers: byName(
      'Name -> string, list of which any may be equal, or tests; names fold case.',
      headerPattern,
    ),
    body: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      minProperties: 1,
      expects: 'a map of at least one key of the payload',
      editor: 'bodyPattern',
      description: 'A pattern over the payload: keys with a scalar, a list of alternatives, or operators.',
    }),
    when: text('A JSONata expression; only `true` matches.'),
  }),
  { description: 'Which requests are meant; absent: all. Everything under it must hold.' },
)

const deliverTo = Type.Array(
  keys({
    channel: text('A configured channel, or `last`.'),
    ...optional({ to: text("An address of the channel. Default: the channel's.") }),
  }),
  {
    $id: 'deliverTo',
    minItems: 1,
    description: 'Agent: several channels, instead of `channel` and `to`.',
  },
)

const transform = keys(
  {
    module: text('Its file, relative to `hooks.transformsDir`.'),
    ...optional({
      export: text('The function of that name. Default: the default export.'),
      with: Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        expects: 'a map of values',
        description:
          'Its `context.with`: settings and secrets. Unlike elsewhere in a mapping, `${…}` is a reference.',
      }),
    }),
  },
  { description: 'A module that looks at the rendered action and may change it.' },
)

const dedupe = keys(
  {
    enabled: flag('False: every request counts.', { default: true }),
    ...optional({
      key: text('JSONata or a template: requests with an equal key count once. Default: the delivery id.'),
      window: duration("Default: the provider's retry period, at least 24h.", { maxMs: maxDedupeMs }),
    }),
  },
  { description: 'What makes a request one that was seen before.' },
)

const coalesce = keys(
  {
    key: text('JSONata or a template: requests with an equal key become one run; without one, none.'),
    window: duration('The run starts when no request has come for so long.', {
      default: '10s',
      maxMs: maxCoalesceMs,
    }),
    maxWait: duration('It starts at the latest so long after its first request.', {
      default: '5m',
      maxMs: maxCoalesceMs,
    }),
    keep: oneOf('Whether the agent reads the newest message, or all of them.', ['latest', 'all'], {
      default: 'latest',
    }),
    maxRunsPerHour: integer('Runs of one key within an hour; what is more is parked as a loop.', {
      minimum: 1,
      default: 60,
    }),
  },
  { description: 'Agent: several requests become one run.' },
)

export const mappingSchema = keys(
  {
    ...optional({
      id: text('Unique. Default: `<file>#<position>`.', {
        pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
        maxLength: 200,
        expects: 'a string of at most 200 characters on one line',
      }),
      description: Type.String({ description: 'For people.' }),
    }),
    enabled: flag('False: checked, but never matched.', { default: true }),
    ...optional({
      match,
      schema: Type.Unsafe<string | boolean | Record<string, unknown>>({
        type: ['string', 'boolean', 'object'],
        minLength: 1,
        expects: 'a JSON Schema, or the name of a file that holds one',
        description: 'JSON Schema of the payload, or its file, relative to this one; failing it is 400.',
      }),
      forEach: text('A JSONata expression that gives a list; one action per element.'),
      vars: byName('Name -> JSONata expression, computed once per action.', text('A JSONata expression.'), {
        names: {
          pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
          expects: 'letters, digits and underscores, no digit first',
        },
      }),
    }),
    action: oneOf('What a matching request does.', ['wake', 'agent'], { default: 'agent' }),
    ...optional({
      text: template('Wake: the event.'),
      textTemplate: template('Another name of `text`.'),
      mode: template('Wake: `now` or `next-heartbeat`.'),
      message: template('Agent: what the agent is asked.'),
      messageTemplate: template('Another name of `message`.'),
      name: template('Agent: who asks, for summaries.'),
      sessionKey: template('Agent: reusing one continues that conversation.'),
      wakeMode: template('Agent: when the summary is looked at, `now` or `next-heartbeat`.'),
      deliver: Type.Unsafe<boolean | string>({
        type: ['boolean', 'string'],
        expects: 'true or false, or a template',
        description: 'Agent: whether the reply goes to a channel.',
      }),
      channel: template('Agent: a configured channel, or `last`.'),
      to: template('Agent: an address of the channel.'),
      model: template('Agent: <provider>/<model> or an alias.'),
      thinking: template('Agent: how much the model thinks.'),
      timeoutSeconds: Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        minimum: 1,
        maximum: 86_400,
        expects: 'a whole number from 1 to 86400, or a template',
        description: 'Agent: time for the run in seconds.',
      }),
      deliverTo,
      runner: text("Agent: a runner's name."),
      transform,
      dedupe,
      busy: oneOf('Agent: whether a run of a busy session waits or is cancelled. Default: queue.', [
        'queue',
        'reject',
      ]),
      coalesce,
      strict: flag('Whether an absent field in a template is 400. Default: false.'),
      allowPayloadRouting: flag('Whether `to`, `channel` and `model` may hold placeholders. Default: false.'),
      continue: flag('Whether later mappings are tried too. Default: false.'),
      allowUnsafeExternalContent: flag('No boundary around payload values. Default: false.'),
    }),
  },
  { $id: 'mapping' },
)

/** A mapping as in its file, with defaults filled in. */
export type MappingValue = Static<typeof mappingSchema>

export const mappingList = Type.Array(mappingSchema, {
  default: [],
  references: false,
  description: 'Mappings, tried in order; the first match wins.',
})

export const mappingFileSchema = keys({
  $schema: schemaKey,
  endpoints: endpointPolicies,
  mappings: mappingList,
  tests: testList,
})

/** The value of a mapping file, with defaults filled in. */
export type MappingFileValue = Static<typeof mappingFileSchema>
