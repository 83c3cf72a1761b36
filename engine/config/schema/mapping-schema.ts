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
    exists: flag('Whether the header must be present or absent.'),
    pattern: text('A regular expression that must match part of it.'),
  },
  minProperties: 1,
  additionalProperties: false,
  expects: 'a string, a list of strings of which one must be equal, or a map of `exists` and `pattern`',
})

const match = keys(
  optional({
    path: text('The endpoint name; `:id` is any one segment. Absent or `/`: every endpoint.'),
    source: Type.String({ description: "The body's top-level `source` equals it." }),
    headers: byName('Header -> string, list of alternatives, or tests. Names ignore case.', headerPattern),
    body: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      minProperties: 1,
      expects: 'a map of at least one key of the payload',
      editor: 'bodyPattern',
      description: 'A pattern over the payload: keys with a scalar, a list of alternatives, or operators.',
    }),
    when: text('A JSONata expression; only `true` matches.'),
  }),
  { description: 'Conditions; all must hold. Absent: every request.' },
)

const deliverTo = Type.Array(
  keys({
    channel: text('A configured channel, or `last`.'),
    ...optional({ to: text("An address of the channel. Default: the channel's.") }),
  }),
  { $id: 'deliverTo', minItems: 1, description: 'Agent: several channels, instead of `channel` and `to`.' },
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
  { description: 'A module that may change the rendered action.' },
)

const dedupe = keys(
  {
    enabled: flag('False: every request counts.', { default: true }),
    ...optional({
      key: text('JSONata or a template: requests with an equal key count once. Default: the delivery id.'),
      window: duration("Default: the provider's retry period, at least 24h.", { maxMs: maxDedupeMs }),
    }),
  },
  { description: 'When a request counts as a duplicate.' },
)

const coalesce = keys(
  {
    key: text('JSONata or a template: requests with an equal key become one run; without one, none.'),
    window: duration('The run starts after this long without a request.', {
      default: '10s',
      maxMs: maxCoalesceMs,
    }),
    maxWait: duration('Limit of that, from the first request on.', { default: '5m', maxMs: maxCoalesceMs }),
    keep: oneOf('Whether the prompt has the newest message or all.', ['latest', 'all'], {
      default: 'latest',
    }),
    maxRunsPerHour: integer('Runs per key and hour; further ones are parked as a loop.', {
      minimum: 1,
      default: 60,
    }),
  },
  { description: 'Agent: merges several requests into one run.' },
)

export const mappingSchema = keys(
  {
    ...optional({
      id: text('Unique. Default: `<file>#<position>`.', {
        pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
        maxLength: 200,
        expects: 'a string of at most 200 characters on one line',
      }),
      description: Type.String({ description: 'A note for readers.' }),
    }),
    enabled: flag('False: checked, but never matched.', { default: true }),
    ...optional({
      match,
      schema: Type.Unsafe<string | boolean | Record<string, unknown>>({
        type: ['string', 'boolean', 'object'],
        minLength: 1,
        expects: 'a JSON Schema, or the name of a file that holds one',
        description: 'JSON Schema of the payload, or its file relative to this one; a violation is 400.',
      }),
      forEach: text('A JSONata expression that returns a list; one action per element.'),
      vars: byName('Name -> JSONata expression, computed once per action.', text('A JSONata expression.'), {
        names: {
          pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
          expects: 'letters, digits and underscores, no digit first',
        },
      }),
    }),
    action: oneOf('The action of a matching request.', ['wake', 'agent'], { default: 'agent' }),
    ...optional({
      text: template('Wake: the event.'),
      textTemplate: template('Another name of `text`.'),
      mode: template('Wake: `now` or `next-heartbeat`.'),
      message: template('Agent: the prompt.'),
      messageTemplate: template('Another name of `message`.'),
      name: template('Agent: name of the sender in summaries.'),
      sessionKey: template('Agent: session; runs with the same key share a conversation.'),
      wakeMode: template('Agent: when the main session reads the summary, `now` or `next-heartbeat`.'),
      deliver: Type.Unsafe<boolean | string>({
        type: ['boolean', 'string'],
        expects: 'true or false, or a template',
        description: 'Agent: whether the reply is delivered.',
      }),
      channel: template('Agent: a configured channel, or `last`.'),
      to: template('Agent: an address of the channel.'),
      model: template('Agent: <provider>/<model> or an alias.'),
      thinking: template('Agent: thinking level.'),
      timeoutSeconds: Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        minimum: 1,
        maximum: 86_400,
        expects: 'a whole number from 1 to 86400, or a template',
        description: 'Agent: time limit of the run in seconds.',
      }),
      deliverTo,
      runner: text("Agent: a runner's name."),
      transform,
      dedupe,
      busy: oneOf('Agent: whether a run waits or is cancelled while its session is busy. Default: queue.', [
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
