/** Defines the schema of `tests:` in mapping files, with type and documentation of every key. */

import { type FieldName, fieldNames } from '../values/fields.ts'
import { defaultTestTime } from '../values/time.ts'
import * as key from './keywords.ts'
import { type Static, type TObject, Type } from './type.ts'

type Scalar = string | number | boolean

/** A value that must be equal, or tests that must all hold. A `not` cannot contain another `not`. */
export type Expected = Scalar | (Tests & { not?: Scalar | Tests })

const scalar = ['string', 'number', 'boolean'] as const

/** The tests of an expected value. Those of strings fail for other values, and all except `exists` for an absent one. */
const tests = {
  equals: key.other<Scalar>({
    type: scalar,
    expects: 'a string, a number, true or false',
    description: 'The value equals this.',
  }),
  contains: key.textOrTexts('It contains this string; of a list, all of them.'),
  prefix: key.anyText('It begins with this string.'),
  suffix: key.anyText('It ends with this string.'),
  pattern: key.text('This regular expression matches part of it.'),
  exists: key.flag('Whether the action has the field.'),
}

type Tests = Static<TObject<typeof tests>>

const heldAgainst = {
  type: [...scalar, 'object'],
  minProperties: 1,
  additionalProperties: false,
  expects: `a string, a number, true or false, or tests: ${Object.keys(tests).join(', ')}, not`,
}

const not = key.other<Scalar | Tests>({
  ...heldAgainst,
  properties: tests,
  description: 'The value differs, or not all of these tests hold.',
})

/** Other schemas refer to this by its `$id`. */
export const expectedValue = {
  $id: 'expectedValue',
  ...Type.Unsafe<Expected>({ ...heldAgainst, properties: { ...tests, not } }),
}

/** Makes the expectation about one value. */
function expected(description: string) {
  return key.other<Expected>({ $ref: expectedValue.$id, description })
}

const fields = Object.fromEntries(
  fieldNames.map((name) => [name, expected(`The action's \`${name}\`.`)]),
) as Readonly<Record<FieldName, ReturnType<typeof expected>>>

const ofAction = {
  mapping: key.text('The id of the mapping that matched.'),
  action: key.oneOf('Its kind.', ['wake', 'agent']),
  ...fields,
  prompt: expected('The prompt: `message` or `text` with the boundary applied.'),
  runner: expected("The action's `runner`."),
  busy: expected("The action's `busy`."),
  coalesce: expected('The key of `coalesce`; absent where the request is not merged.'),
  dedupe: expected('The key of `dedupe`; absent where every request counts.'),
  trusted: key.flag('Whether it bypasses the boundary.'),
  index: key.integer("The element's position, from 0, for a mapping with `forEach`.", { minimum: 0 }),
  deliverTo: key.list(
    'The targets: as many, in this order.',
    key.keys({ channel: key.required(expected('A channel.')), to: expected('An address of the channel.') }),
    { minItems: 1 },
  ),
}

const expectation = key.group(
  'The expected result; keys left out may have any value.',
  {
    outcome: key.oneOf('Outcome. Default: `accepted`, where a key of an action is given.', [
      'accepted',
      'ignored',
      'skipped',
      'refused',
    ]),
    status: key.integer('Status of the answer.', { minimum: 200, maximum: 599 }),
    code: key.text('The code of a refusal.', {
      pattern: '^[A-Z][A-Z0-9_]*$',
      expects: 'a code such as INVALID_FIELD',
    }),
    reason: expected('Why it is ignored, skipped or refused.'),
    ...ofAction,
    actions: key.list(
      'Several actions: as many, in this order.',
      key.keys(ofAction, { minProperties: 1, expects: 'a map of at least one key' }),
      { minItems: 1 },
    ),
  },
  { minProperties: 1, expects: 'a map of at least one key, such as `outcome` or `mapping`' },
)

const request = key.group('The request.', {
  endpoint: key.required(key.text('The endpoint: `github` for /hooks/github.')),
  headers: key.byName('Header -> string.', key.anyText('Value of the header.')),
  query: key.byName('Query parameter -> string.', key.anyText('Value of the parameter.')),
  body: key.other<unknown>({ description: 'The payload.' }),
  bodyFile: key.text('A file with the body, relative to this one.'),
})

const testSchema = key.keys({
  name: key.text('The name, unique in its file.'),
  request: key.required(request),
  now: key.text(`The time, as ISO 8601 with its zone. Default: ${defaultTestTime}.`, {
    format: 'time',
    expects: 'a time as ISO 8601 with its zone',
    hint: 'Write 2026-01-01T00:00:00Z.',
  }),
  expect: key.required(expectation),
})

/** A test as in its file. */
export type TestValue = Static<typeof testSchema>

export const testList = key.list(
  'Requests and their expected results; `reveille test` and every reload run them.',
  testSchema,
  { default: [], references: false },
)
