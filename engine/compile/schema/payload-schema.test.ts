import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decision } from '../../resolve/model/decision.ts'
import { testDecisions } from '../decision-fixture.ts'
import { compileFixture, type Mapping, refusalOf, requestOf, snapshotOf } from '../fixture.ts'

type Schema = NonNullable<Mapping['schema']>

const withSchema = (schema: Schema): Mapping => ({ message: 'x', schema })

async function outcome(schema: Schema, payload: unknown): Promise<Decision['outcome']> {
  return (await (await snapshotOf([withSchema(schema)])).resolve(requestOf(payload))).outcome
}

async function detailOf(schema: Schema, payload: unknown): Promise<readonly (string | undefined)[]> {
  const { code, details } = await refusalOf(withSchema(schema), payload)
  return [code, details[0]?.pointer, details[0]?.message]
}

testDecisions(
  String.raw`
# a payload that satisfies the schema is accepted, any other is refused with pointer and rule
{ schema: { type: object, required: [number], properties: { number: { type: integer }, state: { enum: [open, closed] } } } } ⇒ { number: 5, state: open } ⇒ { message: x }
{ id: m, schema: { properties: { number: { type: integer } } } } ⇒ { number: sekret } ⇒ { code: PAYLOAD_SCHEMA /number, says: '/^mapping "m": the payload does not satisfy its schema: \/number must be integer$/' }
{ schema: { required: [number] } } ⇒ {} ⇒ { code: PAYLOAD_SCHEMA /number, says: /is required/ }
{ schema: { properties: { state: { enum: [open, closed] } } } } ⇒ { state: x } ⇒ { code: PAYLOAD_SCHEMA /state, says: '/must be one of "open", "closed"/' }
{ schema: { type: object } } ⇒ [] ⇒ { code: PAYLOAD_SCHEMA "", says: /must be object/ }
{ schema: { anyOf: [{ required: [a] }, { properties: { b: { type: string } }, required: [b] }] } } ⇒ { b: 5 } ⇒ PAYLOAD_SCHEMA "" /b /a

# the schema is checked only for payloads that match the mapping
[{ id: a, match: { source: a }, schema: false }, { id: b, schema: true }] ⇒ { source: b } ⇒ { mapping: b }
[{ id: a, match: { source: a }, schema: false }, { id: b, schema: true }] ⇒ { source: a } ⇒ PAYLOAD_SCHEMA ""

# a schema is of draft-07 unless it declares 2020-12
{ schema: { items: [{ type: string }] } } ⇒ [5] ⇒ PAYLOAD_SCHEMA /0
{ schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: string }], items: false } } ⇒ [a] ⇒ { message: x }
{ schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: string }], items: false } } ⇒ [a, 1] ⇒ PAYLOAD_SCHEMA ""
{ schema: { $schema: 'http://json-schema.org/draft-04/schema#' } } ⇒ {} ⇒ { load: INVALID_SCHEMA, says: /schema.\$schema/ }

# a payload has no inherited fields, and custom keywords begin with x-
{ schema: { required: [constructor] } } ⇒ {} ⇒ PAYLOAD_SCHEMA /constructor
{ schema: { properties: { toString: { type: string } } } } ⇒ {} ¦ { schema: { x-owner: me, properties: { a: { x-note: 1 } } } } ⇒ {} ⇒ { message: x }
{ schema: { additionalProperties: false } } ⇒ {"__proto__":1} ⇒ PAYLOAD_SCHEMA /__proto__

# references inside the schema and its own ids are followed, also where two mappings have one id
[{ id: a, match: { path: a }, schema: { $id: 'https://example.com/tree', properties: { child: { $ref: '#' }, name: { $ref: '#/definitions/name' }, other: { $ref: 'tree#/definitions/name' } }, definitions: { name: { type: string } } } }, { id: b, schema: { $id: 'https://example.com/tree', properties: { child: { $ref: '#' }, name: { type: string } } } }] ⇒ { child: { child: { name: x } } } @ { endpoint: a } ⇒ { mapping: a }
[{ id: a, match: { path: a }, schema: { $id: 'https://example.com/tree', properties: { other: { $ref: 'tree#/definitions/name' } }, definitions: { name: { type: string } } } }] ⇒ { other: 5 } @ { endpoint: a } ⇒ PAYLOAD_SCHEMA /other
[{ id: a, match: { path: a }, schema: { $id: 'https://example.com/tree' } }, { id: b, schema: { $id: 'https://example.com/tree', properties: { child: { $ref: '#' }, name: { type: string } } } }] ⇒ { child: { child: { name: 5 } } } @ { endpoint: b } ⇒ PAYLOAD_SCHEMA /child/child/name

# patterns run on the linear engine, and a string that is too long for it is refused with the reason
{ schema: { properties: { a: { pattern: '^(a+)+$' } } } } ⇒ { a: aaa } ⇒ { message: x }
{ schema: { properties: { a: { pattern: '^(a+)+$' } } } } ⇒ { a: ${'a'.repeat(5000)}b } ⇒ PAYLOAD_SCHEMA /a
{ schema: { properties: { a: { pattern: '^(a+)+$' } } } } ⇒ { a: ${'a'.repeat(300_000)} } ⇒ PAYLOAD_SCHEMA ""

# formats are checked
{ schema: { properties: { at: { format: date-time }, mail: { format: email }, url: { format: uri } } } } ⇒ { at: '2026-01-01T00:00:00Z', mail: a@b.c, url: 'https://a.b/c' } ⇒ { message: x }
{ schema: { properties: { at: { format: date-time } } } } ⇒ { at: yesterday } ⇒ { code: PAYLOAD_SCHEMA /at, says: /must be a valid date-time/ }

# unique items are compared as JSON values
{ schema: { uniqueItems: true } } ⇒ [1, '1', true, 'true', null, [], {}, [1], ['1'], { a: 1, b: 2 }, { a: 2, b: 1 }, { a: { b: 1 } }] ¦ { schema: { uniqueItems: false } } ⇒ [1, 1] ⇒ { message: x }
{ schema: { uniqueItems: true } } ⇒ [1, 1.0] ¦ { schema: { uniqueItems: true } } ⇒ [{ a: 1, b: [2] }, { b: [2], a: 1 }] ¦ { schema: { uniqueItems: true } } ⇒ [[], []] ¦ { schema: { uniqueItems: true } } ⇒ [null, null] ⇒ PAYLOAD_SCHEMA ""

# the length of a string is counted in characters
{ schema: { maxLength: 2, minLength: 2 } } ⇒ "😀😀" ⇒ { message: x }
{ schema: { maxLength: 2 } } ⇒ "😀😀😀" ⇒ { code: PAYLOAD_SCHEMA "", says: /must have at most 2 characters/ }
{ schema: { minLength: 3 } } ⇒ "😀😀" ⇒ { code: PAYLOAD_SCHEMA "", says: /must have at least 3 characters/ }
`,
  { message: 'x' },
)

test('checking does not change the payload', async () => {
  const request = requestOf({ a: '5' })
  const schema = { properties: { a: { type: ['string'] }, b: { default: 7 } } }
  await (await snapshotOf([withSchema(schema)])).resolve(request)
  assert.deepEqual(request.payload, { a: '5' })
})

/** Title, schema, place, message, hint. */
const bad: readonly (readonly [string, Schema, string, RegExp, RegExp])[] = [
  ['another type', { not: { type: 'strin' } }, 'schema.not.type', /string, number/, /^$/],
  [
    'a misspelt keyword',
    { items: { requierd: [] } },
    'schema.items.requierd',
    /no keyword/,
    /mean `?required/,
  ],
  ['a rule of the wrong kind', { required: 'a' }, 'schema.required', /must be array/, /^$/],
  ['an unknown format', { format: 'date-tim' }, 'schema.format', /unknown format "date-tim"/, /^/],
  ['a pattern that cannot be read', { allOf: [{ pattern: '(' }] }, 'schema.allOf[0].pattern', /./, /^/],
  [
    'a pattern as a name',
    { patternProperties: { '[': { type: 'string' } } },
    'schema.patternProperties["["]',
    /./,
    /^/,
  ],
  ['a reference to nothing', { items: { $ref: '#/$defs/x' } }, 'schema.items.$ref', /to nothing/, /\$defs/],
  ['a reference outside', { $ref: 'https://a.example/s' }, 'schema.$ref', /nothing is fetched/, /Copy/],
  ['a reference to a file', { $ref: 'other.json#/a' }, 'schema.$ref', /nothing is fetched/, /Copy/],
  ['a keyword of 2020-12', { prefixItems: [{}] }, 'schema.prefixItems', /./, /2020-12/],
  ['a schema that waits', { $async: true }, 'schema.$async', /no keyword/, /./],
]

for (const [what, schema, place, message, hint] of bad)
  test(`${what} in a schema is refused at load, with its place`, async () => {
    const compiled = await compileFixture([withSchema(schema)])
    const [found = assert.fail('it compiled')] = compiled.ok ? [] : compiled.diagnostics
    assert.deepEqual([found.code, /`(.*?)`/.exec(found.message)?.[1]], ['INVALID_SCHEMA', place])
    assert.match(found.message.replace(/^.*?": /, ''), message)
    assert.match(found.hint ?? '', hint)
  })

test('no value and no long key of the payload is quoted', async () => {
  const schemas: Schema[] = [
    { additionalProperties: false },
    { propertyNames: { maxLength: 3 } },
    { additionalProperties: { type: 'integer' } },
    { additionalProperties: { const: 'x' } },
    { not: {} },
  ]
  for (const schema of schemas) {
    const refusal = await refusalOf(withSchema(schema), { [`key${'k'.repeat(100_000)}`]: 'sekret' })
    assert.ok(!JSON.stringify(refusal).includes('sekret'))
    assert.ok(JSON.stringify(refusal).length < 1000)
  }
})

const refOfNode = { $ref: '#/definitions/node' }
const nested = (depth: number): unknown => JSON.parse(`${'{"c":'.repeat(depth)}1${'}'.repeat(depth)}`)
test('an ordinary body of a megabyte is checked as a whole', async () => {
  const item = {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { type: 'integer', minimum: 0 },
      name: { type: 'string', minLength: 1, maxLength: 100, pattern: '^name[0-9]+$' },
      kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
      at: { type: 'string', format: 'date-time' },
    },
    additionalProperties: false,
  }
  const at = '2026-01-01T00:00:00Z'
  const list = Array.from({ length: 12_000 }, (_, id) => ({ id, name: `name${id}`, kind: 'b', at }))
  assert.equal(await outcome({ items: item, uniqueItems: true }, list), 'accepted')
  const detail = await detailOf({ items: item }, [...list, { id: 1, name: 'x' }])
  assert.deepEqual(detail, ['PAYLOAD_SCHEMA', '/12000/name', 'must match pattern "^name[0-9]+$"'])
})

test('a payload too deep to check is refused, not failed', async () => {
  const schema = { ...refOfNode, definitions: { node: { properties: { c: refOfNode } } } }
  assert.equal(await outcome(schema, nested(1000)), 'accepted')
  const detail = await detailOf(schema, `${'{"c":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
  assert.deepEqual(detail, ['PAYLOAD_SCHEMA', '', 'is nested too deeply to check'])
})
