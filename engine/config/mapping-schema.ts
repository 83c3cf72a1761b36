/** Owns mapping files and mapping entries: every key's type, default and documentation. */

import * as Type from 'typebox'
import { byName, keys, later, oneOf, text, textOrTexts } from './keywords.ts'

/** A text that may hold placeholders. */
function template(description: string) {
  return Type.Optional(Type.String({ description }))
}

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
    keys({
      path: Type.Optional(text({ description: 'The endpoint name. Absent or `/`: every endpoint.' })),
      source: Type.Optional(Type.String({ description: "The body's top-level `source` equals it." })),
      headers: Type.Optional(
        byName(
          textOrTexts({
            later: 'object',
            minItems: 1,
            expects: 'text, or a list of texts of which one must be equal',
          }),
          { description: 'Name -> text, or a list of which any may be equal; names fold case.' },
        ),
      ),
      body: later('A pattern over the payload.'),
      when: Type.Optional(text({ description: 'A JSONata expression; only `true` matches.' })),
    }),
  ),
  schema: later('JSON Schema of the payload.'),
  forEach: later('JSONata giving a list; one action per element.'),
  vars: later('Name -> JSONata, computed once per action.'),
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
  deliverTo: later('Several channels instead of `channel` and `to`.'),
  runner: Type.Optional(text({ description: "Agent: a runner's name." })),
  transform: later('A module that changes the action.'),
  dedupe: later('What makes a request a duplicate.'),
  strict: later('Whether an absent field in a template is refused.'),
  allowPayloadRouting: Type.Optional(
    Type.Boolean({
      description: 'Whether `to`, `channel` and `model` may hold placeholders. Default: false.',
    }),
  ),
  continue: later('Whether later mappings are tried too.'),
  allowUnsafeExternalContent: Type.Optional(
    Type.Boolean({ description: 'No boundary around payload values. Default: false.' }),
  ),
})

/** One mapping as its file gives it, defaults filled in. */
export type MappingValue = Type.Static<typeof mappingSchema>

export const mappingList = Type.Array(mappingSchema, {
  default: [],
  references: false,
  description: 'Mappings, tried in order; the first match wins.',
})

const endpointPolicySchema = keys({
  maxBodyBytes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 104_857_600, description: 'Instead of `hooks.maxBodyBytes`.' }),
  ),
  auth: later('`both`: token and signature.'),
  token: later('A token of this endpoint alone.'),
  verify: later("The provider's signature."),
  concurrency: later('Runs of this endpoint at one time.'),
  timeoutSeconds: later('Time for runs of this endpoint in seconds.'),
  rate: later('Requests per time.'),
  budget: later('Runs per time.'),
  bots: later('What happens to requests that bots caused.'),
  expectEvery: later('Silence after which the endpoint counts as broken.'),
})

export const endpointPolicies = byName(endpointPolicySchema, {
  default: {},
  description: 'Policies by endpoint name, as the text of `match.path`.',
})

export const mappingFileSchema = keys({
  endpoints: endpointPolicies,
  mappings: mappingList,
  tests: Type.Optional(
    Type.Unsafe<unknown>({
      later: true,
      references: false,
      description: 'Requests and what is expected of them.',
    }),
  ),
})

/** A mapping file's value, defaults filled in. */
export type MappingFileValue = Type.Static<typeof mappingFileSchema>
