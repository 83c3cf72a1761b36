import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { compileQuery } from './query.ts'

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 500 },
    cursor: { type: 'string', minLength: 1, maxLength: 3 },
    state: { type: 'string', enum: ['queued', 'running'] },
    dryRun: { type: 'boolean' },
  },
  additionalProperties: false,
}

/** What Fastify would have created for these schemas. */
const ajv = new Ajv({ coerceTypes: 'array', useDefaults: true })
const expected = ajv.compile(schema)
const validate = compileQuery({ schema } as never)

const texts = [
  '',
  '0',
  '1',
  '500',
  '501',
  '-1',
  '1.0',
  '1.5',
  '1e2',
  '0x10',
  ' 7',
  'many',
  '-0',
  'true',
  'false',
  'queued',
  'abc',
  'abcd',
  '\u{1f600}\u{1f600}\u{1f600}',
  '__proto__',
]
const text = fc.constantFrom(...texts)
const query = fc.dictionary(
  fc.constantFrom('limit', 'cursor', 'state', 'dryRun', 'other', 'toString'),
  fc.oneof(text, text, fc.array(text, { minLength: 1, maxLength: 3 })),
  { noNullPrototype: false },
)

test('a query is taken, changed and refused as by the library that implements JSON Schema', () => {
  fc.assert(
    fc.property(query, (given) => {
      const [one, other] = [structuredClone(given), structuredClone(given)]
      const isGood = expected(one)
      const answer = validate(other) as { readonly error?: object[] }
      const parts = (errors: readonly object[] = []) => errors.map((error) => ({ ...error, schemaPath: '' }))
      assert.deepEqual(parts(answer.error), isGood ? [] : parts(expected.errors ?? []))
      if (isGood) assert.deepEqual({ ...other }, { ...one })
    }),
    { numRuns: 3000 },
  )
})
