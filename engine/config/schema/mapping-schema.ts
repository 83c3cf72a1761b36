/** The schema of mapping files and mapping entries: every key's type, default and documentation. */

import type { HeaderPattern } from '../configuration.ts'
import { defineFileShape } from './file-shape.ts'
import { byName, duration, keys, oneOf, schemaKey, text } from './keywords.ts'
import { endpointPolicies } from './policy-schema.ts'
import { testList } from './test-schema.ts'
import { type Static, Type } from './type.ts'

/** A text that may hold placeholders. */
function template(description: string) {
  return Type.Optional(Type.String({ description }))
}

/** Longer than any use of it, and far shorter than a timer can wait. */
const longestCoalesceMs = 86_400_000

/** A key takes memory for as long as it is remembered. */
const longestDedupeMs = 90 * 86_400_000

/** One wanted header. */
const headerPattern = Type.Unsafe<HeaderPattern>({
  type: ['string', 'array', 'object'],
  items: { type: 'string' },
  minItems: 1,
  properties: {
    exists: Type.Boolean({ description: 'Whether the header must be there, or must not.' }),
    pattern: text({ description: 'A regular expression that is found somewhere in it.' }),
  },
  minProperties: 1,
  additionalProperties: false,
  expects: 'text, a list of texts of which one must be equal, or a map of `exists` and `pattern`',
})

export const mappingSchema = keys({
  id: Type.Optional(
    text({
      pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
      maxLength: 200,
      expects: 'text of at most 200 characters on one line',
      description: 'Unique. Default: `<file>#<position>`.',
    }),
  ),
  description: Type.Optional(Type.String({ description: 'For people.' })),
  enabled: Type.Boolean({ default: true, description: 'False: checked, but never matched.' }),
  match: Type.Optional(
    keys(
      {
        path: Type.Optional(
          text({
            description:
              'The endpoint name; a segment such as `:id` stands for any one segment. Absent or `/`: every endpoint.',
          }),
        ),
        source: Type.Optional(Type.String({ description: "The body's top-level `source` equals it." })),
        headers: Type.Optional(
          byName(headerPattern, {
            description: 'Name -> text, list of which any may be equal, or tests; names fold case.',
          }),
        ),
        body: Type.Optional(
          Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            minProperties: 1,
            expects: 'a map of at least one key of the payload',
            editor: 'bodyPattern',
            description:
              'A pattern over the payload: keys, and below them a text, number, true, false or null, a list of which any may be equal, or operators.',
          }),
        ),
        when: Type.Optional(text({ description: 'A JSONata expression; only `true` matches.' })),
      },
      { description: 'Which requests are meant; absent: all. Everything under it must hold.' },
    ),
  ),
  schema: Type.Optional(
    Type.Unsafe<string | boolean | Record<string, unknown>>({
      type: ['string', 'boolean', 'object'],
      minLength: 1,
      expects: 'a JSON Schema, or the name of a file that holds one',
      description: 'JSON Schema of the payload, or its file, relative to this one; failing it is 400.',
    }),
  ),
  forEach: Type.Optional(
    text({ description: 'A JSONata expression that gives a list; one action per element.' }),
  ),
  vars: Type.Optional(
    byName(text({ description: 'A JSONata expression.' }), {
      names: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        expects: 'letters, digits and underscores, no digit first',
      },
      description: 'Name -> JSONata expression, computed once per action.',
    }),
  ),
  action: oneOf(['wake', 'agent'], { default: 'agent', description: 'What a matching request does.' }),
  text: template('Wake: the event.'),
  textTemplate: template('Another name of `text`.'),
  mode: template('Wake: `now` or `next-heartbeat`.'),
  message: template('Agent: what the agent is asked.'),
  messageTemplate: template('Another name of `message`.'),
  name: template('Agent: who asks, for summaries.'),
  sessionKey: template('Agent: reusing one continues that conversation.'),
  wakeMode: template('Agent: when the summary is looked at, `now` or `next-heartbeat`.'),
  deliver: Type.Optional(
    Type.Unsafe<boolean | string>({
      type: ['boolean', 'string'],
      expects: 'true or false, or a template',
      description: 'Agent: whether the reply goes to a channel.',
    }),
  ),
  channel: template('Agent: a configured channel, or `last`.'),
  to: template('Agent: an address of the channel.'),
  model: template('Agent: <provider>/<model> or an alias.'),
  thinking: template('Agent: how much the model thinks.'),
  timeoutSeconds: Type.Optional(
    Type.Unsafe<number | string>({
      type: ['integer', 'string'],
      minimum: 1,
      maximum: 86_400,
      expects: 'a whole number from 1 to 86400, or a template',
      description: 'Agent: time for the run in seconds.',
    }),
  ),
  deliverTo: Type.Optional(
    Type.Array(
      keys({
        channel: text({ description: 'A configured channel, or `last`.' }),
        to: Type.Optional(text({ description: "An address of the channel. Default: the channel's." })),
      }),
      { minItems: 1, description: 'Agent: several channels, instead of `channel` and `to`.' },
    ),
  ),
  runner: Type.Optional(text({ description: "Agent: a runner's name." })),
  transform: Type.Optional(
    keys(
      {
        module: text({ description: 'Its file, relative to `hooks.transformsDir`.' }),
        export: Type.Optional(
          text({ description: 'The function of that name. Default: the default export.' }),
        ),
        with: Type.Optional(
          Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            expects: 'a map of values',
            description:
              'Given to it as `context.with`: settings and secrets. Unlike elsewhere in a mapping, `${NAME}`, `${NAME:-default}` and `${file:/path}` are references here.',
          }),
        ),
      },
      { description: 'A module that looks at the rendered action and may change it.' },
    ),
  ),
  dedupe: Type.Optional(
    keys(
      {
        enabled: Type.Boolean({ default: true, description: 'False: every request counts.' }),
        key: Type.Optional(
          text({
            description:
              'JSONata, or a template: of the requests with one key only the first counts. Default: the id that the provider gives its deliveries.',
          }),
        ),
        window: Type.Optional(
          duration({
            atMostMs: longestDedupeMs,
            description:
              'For how long. Default: as long as the provider may send a delivery again, and at least 24h.',
          }),
        ),
      },
      { description: 'What makes a request one that was seen before.' },
    ),
  ),
  busy: Type.Optional(
    oneOf(['queue', 'reject'], {
      description:
        'Agent: what becomes of a run whose session has one already: it waits, or ends as `cancelled`. Default: queue.',
    }),
  ),
  coalesce: Type.Optional(
    keys(
      {
        key: text({
          description:
            'JSONata, or a template: requests of one key become one run. Where it gives nothing, the request stands alone.',
        }),
        window: duration({
          default: '10s',
          atMostMs: longestCoalesceMs,
          description: 'The run starts when no request has come for so long.',
        }),
        maxWait: duration({
          default: '5m',
          atMostMs: longestCoalesceMs,
          description: 'It starts at the latest so long after its first request.',
        }),
        keep: oneOf(['latest', 'all'], {
          default: 'latest',
          description: 'Whether the agent reads the newest message, or all of them.',
        }),
        maxRunsPerHour: Type.Integer({
          minimum: 1,
          default: 60,
          description: 'Runs of one key within an hour; what is more is parked as a loop.',
        }),
      },
      { description: 'Agent: several requests become one run.' },
    ),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: 'Whether an absent field in a template is 400. Default: false.' }),
  ),
  allowPayloadRouting: Type.Optional(
    Type.Boolean({
      description: 'Whether `to`, `channel` and `model` may hold placeholders. Default: false.',
    }),
  ),
  continue: Type.Optional(
    Type.Boolean({ description: 'Whether later mappings are tried too. Default: false.' }),
  ),
  allowUnsafeExternalContent: Type.Optional(
    Type.Boolean({ description: 'No boundary around payload values. Default: false.' }),
  ),
})

/** One mapping as its file gives it, defaults filled in. */
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

export const mappingFileShape = defineFileShape(mappingFileSchema, [['mappings'], ['tests']])

/** A mapping file's value, defaults filled in. */
export type MappingFileValue = Static<typeof mappingFileSchema>
