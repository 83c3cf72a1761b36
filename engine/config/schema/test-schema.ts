/** The schema of `tests:` in mapping files: every key's type and documentation. */

import type { Expected, ExpectedField, ExpectedTests } from '../configuration.ts'
import { fieldNames } from '../fields.ts'
import { defaultTestTime } from '../time.ts'
import { byName, keys, oneOf, text, textOrTexts } from './keywords.ts'
import { type Static, type TOptional, type TUnsafe, Type } from './type.ts'

const scalar = ['string', 'number', 'boolean'] as const

/** The comparisons that an expected value can ask for. */
const tests = {
  equals: Type.Optional(
    Type.Unsafe<string | number | boolean>({
      type: scalar,
      expects: 'a text, a number, true or false',
      description: 'The value is this one.',
    }),
  ),
  contains: Type.Optional(
    textOrTexts({ minItems: 1, description: 'This text is in it; of a list, every one.' }),
  ),
  prefix: Type.Optional(Type.String({ description: 'It begins with this text.' })),
  suffix: Type.Optional(Type.String({ description: 'It ends with this text.' })),
  pattern: Type.Optional(text({ description: 'This regular expression is found somewhere in it.' })),
  exists: Type.Optional(Type.Boolean({ description: 'Whether the action has the field at all.' })),
}

const heldAgainst = {
  type: [...scalar, 'object'],
  minProperties: 1,
  additionalProperties: false,
  expects: `a text, a number, true or false, or tests: ${Object.keys(tests).join(', ')}, not`,
}

const not = Type.Optional(
  Type.Unsafe<NonNullable<ExpectedTests['not']>>({
    ...heldAgainst,
    properties: tests,
    description: 'The value is not this one, or not all of these tests hold.',
  }),
)

/** What other schemas refer to by its `$id`: compiling it for each field would keep every start for a second. */
export const expectedValue = {
  $id: 'expectedValue',
  ...Type.Unsafe<Expected>({ ...heldAgainst, properties: { ...tests, not } }),
}

/** What one value is expected to be. */
function expected(description: string) {
  return Type.Unsafe<Expected>({ $ref: expectedValue.$id, description })
}

const fields = Object.fromEntries(
  fieldNames.map((name) => [name, Type.Optional(expected(`The action's \`${name}\`.`))]),
) as Readonly<Record<ExpectedField, TOptional<TUnsafe<Expected>>>>

const ofAction = {
  mapping: Type.Optional(text({ description: 'The id of the mapping that matched.' })),
  action: Type.Optional(oneOf(['wake', 'agent'], { description: 'What it does.' })),
  ...fields,
  prompt: Type.Optional(expected('What the model will see: `message` or `text` with the boundary applied.')),
  runner: Type.Optional(expected("The action's `runner`.")),
  busy: Type.Optional(expected("The action's `busy`.")),
  coalesce: Type.Optional(
    expected("The key of the action's `coalesce`; it has none where the request stands alone."),
  ),
  dedupe: Type.Optional(
    expected("The key of the action's `dedupe`; it has none where every request counts."),
  ),
  trusted: Type.Optional(Type.Boolean({ description: 'Whether it goes without the boundary.' })),
  index: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "The element's position, from 0, for a mapping with `forEach`.",
    }),
  ),
  deliverTo: Type.Optional(
    Type.Array(
      keys({
        channel: expected('A channel.'),
        to: Type.Optional(expected('An address of the channel.')),
      }),
      { minItems: 1, description: 'The targets: as many, in this order.' },
    ),
  ),
}

const expectation = keys(
  {
    outcome: Type.Optional(
      oneOf(['accepted', 'ignored', 'skipped', 'refused'], {
        description: 'How the request ends. Default: accepted, where an action is spoken of.',
      }),
    ),
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'The status that the sender is answered.' }),
    ),
    code: Type.Optional(
      text({
        pattern: '^[A-Z][A-Z0-9_]*$',
        expects: 'a code such as INVALID_FIELD',
        description: 'The code of a refusal.',
      }),
    ),
    reason: Type.Optional(expected('Why it is ignored, skipped or refused.')),
    ...ofAction,
    actions: Type.Optional(
      Type.Array(keys(ofAction, { minProperties: 1, expects: 'a map of at least one key' }), {
        minItems: 1,
        description: 'Several actions: as many, in this order.',
      }),
    ),
  },
  {
    minProperties: 1,
    expects: 'a map of at least one key, such as `outcome` or `mapping`',
    description: 'What comes of the request; a key that is left out may be anything.',
  },
)

const testSchema = keys({
  name: Type.Optional(text({ description: 'A sentence about what happens. Unique in its file.' })),
  request: keys(
    {
      endpoint: text({ description: 'The endpoint: `github` for /hooks/github.' }),
      headers: Type.Optional(
        byName(Type.String({ description: 'What the header says.' }), { description: 'Header -> text.' }),
      ),
      query: Type.Optional(
        byName(Type.String({ description: 'What the parameter says.' }), {
          description: 'Query parameter -> text.',
        }),
      ),
      body: Type.Optional(Type.Unsafe<unknown>({ description: 'The payload.' })),
      bodyFile: Type.Optional(
        text({ description: 'A file that holds the body instead, relative to this one.' }),
      ),
    },
    { description: 'What is received.' },
  ),
  now: Type.Optional(
    text({ description: `The time, as ISO 8601 with its zone. Default: ${defaultTestTime}.` }),
  ),
  expect: expectation,
})

/** One test as its file gives it. */
export type TestValue = Static<typeof testSchema>

export const testList = Type.Array(testSchema, {
  default: [],
  references: false,
  description: 'Requests and what is expected of them; `reveille test` runs them, and so does every reload.',
})
