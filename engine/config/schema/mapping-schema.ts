/** Defines the schema of mapping files and mapping entries, with type, default and documentation of every key. */

import * as key from './keywords.ts'
import { endpointPolicies } from './policy-schema.ts'
import { testList } from './test-schema.ts'
import type { Static } from './type.ts'

/** The limit exceeds any use of it, and is far below the longest timer. */
const maxCoalesceMs = 86_400_000

/** A key takes memory for as long as it is remembered. */
const maxDedupeMs = 90 * 86_400_000

/** A wanted header: a string, any of a list, or tests that must all hold. */
export type HeaderPattern =
  | string
  | readonly string[]
  | { readonly exists?: boolean; readonly pattern?: string }

const headerPattern = key.other<HeaderPattern>({
  type: ['string', 'array', 'object'],
  items: { type: 'string' },
  minItems: 1,
  properties: {
    exists: key.flag('Whether the header must be present or absent.'),
    pattern: key.text('A regular expression that must match part of it.'),
  },
  minProperties: 1,
  additionalProperties: false,
  expects: 'a string, a list of strings of which one must be equal, or a map of `exists` and `pattern`',
})

const match = key.group('Conditions; all must hold. Absent: every request.', {
  path: key.text('The endpoint name; `:id` is any one segment. Absent or `/`: every endpoint.'),
  source: key.anyText("The body's top-level `source` equals it."),
  headers: key.byName('Header -> string, list of alternatives, or tests. Names ignore case.', headerPattern),
  body: key.other<Record<string, unknown>>({
    type: 'object',
    minProperties: 1,
    expects: 'a map of at least one key of the payload',
    editor: 'bodyPattern',
    description: 'A pattern over the payload: keys with a scalar, a list of alternatives, or operators.',
  }),
  when: key.text('A JSONata expression; only `true` matches.'),
})

const deliverTo = key.list(
  'Agent: several channels, instead of `channel` and `to`.',
  key.keys({
    channel: key.required(key.text('A configured channel, or `last`.')),
    to: key.text("An address of the channel. Default: the channel's."),
  }),
  { $id: 'deliverTo', minItems: 1 },
)

const transform = key.group('A module that may change the rendered action.', {
  module: key.required(key.text('Its file, relative to `hooks.transformsDir`.')),
  export: key.text('The function of that name. Default: the default export.'),
  with: key.other<Record<string, unknown>>({
    type: 'object',
    expects: 'a map of values',
    description:
      'Its `context.with`: settings and secrets. Unlike elsewhere in a mapping, `${…}` is a reference.',
  }),
})

const dedupe = key.group('When a request counts as a duplicate.', {
  enabled: key.flag('False: every request counts.', { default: true }),
  key: key.text('JSONata or a template: requests with an equal key count once. Default: the delivery id.'),
  window: key.duration("Default: the provider's retry period, at least 24h.", { maxMs: maxDedupeMs }),
})

const coalesce = key.group('Agent: merges several requests into one run.', {
  key: key.required(
    key.text('JSONata or a template: requests with an equal key become one run; without one, none.'),
  ),
  window: key.duration('The run starts after this long without a request.', {
    default: '10s',
    maxMs: maxCoalesceMs,
  }),
  maxWait: key.duration('Limit of that, from the first request on.', { default: '5m', maxMs: maxCoalesceMs }),
  keep: key.oneOf('Whether the prompt has the newest message or all.', ['latest', 'all'], {
    default: 'latest',
  }),
  maxRunsPerHour: key.integer('Runs per key and hour; further ones are parked as a loop.', {
    minimum: 1,
    default: 60,
  }),
})

export const mappingSchema = key.keys(
  {
    id: key.text('Unique. Default: `<file>#<position>`.', {
      pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
      maxLength: 200,
      expects: 'a string of at most 200 characters on one line',
    }),
    description: key.anyText('A note for readers.'),
    enabled: key.flag('False: checked, but never matched.', { default: true }),
    match,
    schema: key.other<string | boolean | Record<string, unknown>>({
      type: ['string', 'boolean', 'object'],
      minLength: 1,
      expects: 'a JSON Schema, or the name of a file that holds one',
      description: 'JSON Schema of the payload, or its file relative to this one; a violation is 400.',
    }),
    forEach: key.text('A JSONata expression that returns a list; one action per element.'),
    vars: key.byName(
      'Name -> JSONata expression, computed once per action.',
      key.text('A JSONata expression.'),
      {
        propertyNames: {
          pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
          expects: 'letters, digits and underscores, no digit first',
        },
      },
    ),
    action: key.oneOf('The action of a matching request.', ['wake', 'agent'], { default: 'agent' }),
    text: key.anyText('Wake: the event.'),
    textTemplate: key.anyText('Another name of `text`.'),
    mode: key.anyText('Wake: `now` or `next-heartbeat`.'),
    message: key.anyText('Agent: the prompt.'),
    messageTemplate: key.anyText('Another name of `message`.'),
    name: key.anyText('Agent: name of the sender in summaries.'),
    sessionKey: key.anyText('Agent: session; runs with the same key share a conversation.'),
    wakeMode: key.anyText('Agent: when the main session reads the summary, `now` or `next-heartbeat`.'),
    deliver: key.other<boolean | string>({
      type: ['boolean', 'string'],
      expects: 'true or false, or a template',
      description: 'Agent: whether the reply is delivered.',
    }),
    channel: key.anyText('Agent: a configured channel, or `last`.'),
    to: key.anyText('Agent: an address of the channel.'),
    model: key.anyText('Agent: <provider>/<model> or an alias.'),
    thinking: key.anyText('Agent: thinking level.'),
    timeoutSeconds: key.other<number | string>({
      type: ['integer', 'string'],
      minimum: 1,
      maximum: 86_400,
      expects: 'a whole number from 1 to 86400, or a template',
      description: 'Agent: time limit of the run in seconds.',
    }),
    deliverTo,
    runner: key.text("Agent: a runner's name."),
    transform,
    dedupe,
    busy: key.oneOf('Agent: whether a run waits or is cancelled while its session is busy. Default: queue.', [
      'queue',
      'reject',
    ]),
    coalesce,
    strict: key.flag('Whether an absent field in a template is 400. Default: false.'),
    allowPayloadRouting: key.flag(
      'Whether `to`, `channel` and `model` may hold placeholders. Default: false.',
    ),
    continue: key.flag('Whether later mappings are tried too. Default: false.'),
    allowUnsafeExternalContent: key.flag('No boundary around payload values. Default: false.'),
  },
  { $id: 'mapping' },
)

/** A mapping as in its file, with defaults filled in. */
export type MappingValue = Static<typeof mappingSchema>

export const mappingList = key.list('Mappings, tried in order; the first match wins.', mappingSchema, {
  default: [],
  references: false,
})

export const mappingFileSchema = key.keys({
  $schema: key.schemaKey,
  endpoints: endpointPolicies,
  mappings: mappingList,
  tests: testList,
})

/** The value of a mapping file, with defaults filled in. */
export type MappingFileValue = Static<typeof mappingFileSchema>
