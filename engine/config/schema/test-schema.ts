/** Defines the schema of `tests:` in mapping files, with type and documentation of every key. */

import { type FieldName, fieldNames } from '../values/fields.ts'
import { defaultTestTime } from '../values/time.ts'
import { byName, flag, integer, keys, oneOf, optional, text, textOrTexts } from './keywords.ts'
import { type Static, type TObject, type TUnsafe, Type } from './type.ts'

type Scalar = string | number | boolean

/** A value that must be equal, or tests that must all hold. A `not` cannot contain another `not`. */
export type Expected = Scalar | (Tests & { not?: Scalar | Tests })

const scalar = ['string', 'number', 'boolean'] as const

/** The tests of an expected value. Those of strings fail for other values, and all except `exists` for an absent one. */
const tests = optional({
  equals: Type.Unsafe<Scalar>({
    type: scalar,
    expects: 'a string, a number, true or false',
    description: 'The value equals this.',
  }),
  contains: textOrTexts('It contains this string; of a list, all of them.'),
  prefix: Type.String({ description: 'It begins with this string.' }),
  suffix: Type.String({ description: 'It ends with this string.' }),
  pattern: text('This regular expression matches part of it.'),
  exists: flag('Whether the action has the field.'),
})

type Tests = Static<TObject<typeof tests>>

const heldAgainst = {
  type: [...scalar, 'object'],
  minProperties: 1,
  additionalProperties: false,
  expects: `a string, a number, true or false, or tests: ${Object.keys(tests).join(', ')}, not`,
}

const not = Type.Unsafe<Scalar | Tests>({
  ...heldAgainst,
  properties: tests,
  description: 'The value differs, or not all of these tests hold.',
})

/** Other schemas refer to this by its `$id`. */
export const expectedValue = {
  $id: 'expectedValue',
  ...Type.Unsafe<Expected>({ ...heldAgainst, properties: { ...tests, ...optional({ not }) } }),
}

/** Makes the expectation about one value. */
function expected(description: string) {
  return Type.Unsafe<Expected>({ $ref: expectedValue.$id, description })
}

const fields = Object.fromEntries(
  fieldNames.map((name) => [name, expected(`The action's \`${name}\`.`)]),
) as Readonly<Record<FieldName, TUnsafe<Expected>>>

const ofAction = optional({
  mapping: text('The id of the mapping that matched.'),
  action: oneOf('What it does.', ['wake', 'agent']),
  ...fields,
  prompt: expected('The prompt: `message` or `text` with the boundary applied.'),
  runner: expected("The action's `runner`."),
  busy: expected("The action's `busy`."),
  coalesce: expected('The key of `coalesce`; absent where the request is not merged.'),
  dedupe: expected('The key of `dedupe`; absent where every request counts.'),
  trusted: flag('Whether it bypasses the boundary.'),
  index: integer("The element's position, from 0, for a mapping with `forEach`.", { minimum: 0 }),
  deliverTo: Type.Array(
    keys({ channel: expected('A channel.'), ...optional({ to: expected('An address of the channel.') }) }),
    { minItems: 1, description: 'The targets: as many, in this order.' },
  ),
})

const expectation = keys(
  optional({
    outcome: oneOf('Outcome. Default: `accepted`, where a key of an action is given.', [
      'accepted',
      'ignored',
      'skipped',
      'refused',
    ]),
    status: integer('Status of the answer.', { minimum: 200, maximum: 599 }),
    code: text('The code of a refusal.', {
      pattern: '^[A-Z][A-Z0-9_]*$',
      expects: 'a code such as INVALID_FIELD',
    }),
    reason: expected('Why it is ignored, skipped or refused.'),
    ...ofAction,
    actions: Type.Array(keys(ofAction, { minProperties: 1, expects: 'a map of at least one key' }), {
      minItems: 1,
      description: 'Several actions: as many, in this order.',
    }),
  }),
  {
    minProperties: 1,
    expects: 'a map of at least one key, such as `outcome` or `mapping`',
    description: 'The expected result; keys left out may have any value.',
  },
)

const request = keys(
  {
    endpoint: text('The endpoint: `github` for /hooks/github.'),
    ...optional({
      headers: byName('Header -> string.', Type.String({ description: 'What the header says.' })),
      query: byName('Query parameter -> string.', Type.String({ description: 'What the parameter says.' })),
      body: Type.Unsafe<unknown>({ description: 'The payload.' }),
      bodyFile: text('A file with the body, relative to this one.'),
    }),
  },
  { description: 'The request.' },
)

const testSchema = keys({
  ...optional({ name: text('The name, unique in its file.') }),
  request,
  ...optional({
    now: text(`The time, as ISO 8601 with its zone. Default: ${defaultTestTime}.`, {
      form: 'time',
      expects: 'a time as ISO 8601 with its zone',
      hint: 'Write 2026-01-01T00:00:00Z.',
    }),
  }),
  expect: expectation,
})

/** A test as in its file. */
export type TestValue = Static<typeof testSchema>

export const testList = Type.Array(testSchema, {
  default: [],
  references: false,
  description: 'Requests and their expected results; `reveille test` and every reload run them.',
})
