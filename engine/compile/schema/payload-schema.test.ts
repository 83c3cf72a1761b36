import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decision } from '../../resolve/model/decision.ts'
import { compileFixture, type Mapping, refusalOf, requestOf, snapshotOf } from '../fixture.ts'

type Schema = NonNullable<Mapping['schema']>

const withSchema = (schema: Schema): Mapping => ({ message: 'x', schema })
const latest = 'https://json-schema.org/draft/2020-12/schema'

async function outcome(schema: Schema, payload: unknown): Promise<Decision['outcome']> {
  return (await snapshotOf([withSchema(schema)]).resolve(requestOf(payload))).outcome
}

async function detailOf(schema: Schema, payload: unknown): Promise<readonly [string, string]> {
  const { code, details } = await refusalOf(withSchema(schema), payload)
  assert.equal(code, 'PAYLOAD_SCHEMA')
  return [details[0]?.pointer ?? 'none', details[0]?.message ?? 'none']
}

function problemOf(schema: Schema): readonly [string, string, string | undefined] {
  const compiled = compileFixture([withSchema(schema)])
  assert.ok(!compiled.ok, 'it compiled')
  const [{ code, message, hint } = { code: '', message: '', hint: '' }] = compiled.diagnostics
  assert.equal(code, 'INVALID_SCHEMA')
  return [/`(.*?)`/.exec(message)?.[1] ?? '', message.replace(/^.*?": /, ''), hint]
}

test('a payload that satisfies the schema is accepted, any other is refused with pointer and rule', async () => {
  const schema = {
    type: 'object',
    required: ['number'],
    properties: { number: { type: 'integer' }, state: { enum: ['open', 'closed'] } },
  }
  assert.equal(await outcome(schema, { number: 5, state: 'open' }), 'accepted')
  const refusal = await refusalOf({ id: 'm', ...withSchema(schema) }, { number: 'sekret' })
  assert.equal(
    refusal.message,
    'mapping "m": the payload does not satisfy its schema: /number must be integer',
  )
  assert.deepEqual(refusal.details, [{ pointer: '/number', message: 'must be integer' }])
  assert.deepEqual(await detailOf(schema, {}), ['/number', 'is required'])
  assert.deepEqual(await detailOf(schema, { number: 1, state: 'x' }), [
    '/state',
    'must be one of "open", "closed"',
  ])
  assert.deepEqual(await detailOf(schema, []), ['', 'must be object'])
})

test('the schema is checked only for payloads that match the mapping', async () => {
  const snapshot = snapshotOf([
    { id: 'a', match: { source: 'a' }, message: 'x', schema: false },
    { id: 'b', message: 'x', schema: true },
  ])
  assert.equal((await snapshot.resolve(requestOf({ source: 'b' }))).outcome, 'accepted')
  assert.equal((await snapshot.resolve(requestOf({ source: 'a' }))).outcome, 'refused')
})

test('if no branch of a choice is satisfied, the reasons of the branches are reported too', async () => {
  const schema = { anyOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } }, required: ['b'] }] }
  const { details } = await refusalOf(withSchema(schema), { b: 5 })
  assert.deepEqual(
    details.map(({ pointer, message }) => [pointer, message]),
    [
      ['', 'must satisfy one of several schemas (anyOf)'],
      ['/b', 'must be string'],
      ['/a', 'is required'],
    ],
  )
})

test('a schema is of draft-07 unless it declares 2020-12', async () => {
  const tuple = { items: [{ type: 'string' }] }
  assert.equal(await outcome(tuple, [5]), 'refused')
  const prefixed = { $schema: latest, prefixItems: [{ type: 'string' }], items: false }
  assert.equal(await outcome(prefixed, ['a']), 'accepted')
  assert.equal(await outcome(prefixed, ['a', 1]), 'refused')
  assert.match(problemOf({ prefixItems: [{}] })[2] ?? '', /2020-12/)
  assert.equal(problemOf({ $schema: 'http://json-schema.org/draft-04/schema#' })[0], 'schema.$schema')
})

test('a payload has no inherited fields', async () => {
  assert.deepEqual(await detailOf({ required: ['constructor'] }, {}), ['/constructor', 'is required'])
  assert.equal(await outcome({ properties: { toString: { type: 'string' } } }, {}), 'accepted')
  assert.equal(await outcome({ additionalProperties: false }, '{"__proto__": 1}'), 'refused')
})

test('checking does not change the payload', async () => {
  const request = requestOf({ a: '5' })
  const schema = { properties: { a: { type: ['string'] }, b: { default: 7 } } }
  await snapshotOf([withSchema(schema)]).resolve(request)
  assert.deepEqual(request.payload, { a: '5' })
})

/** Title, schema, place, message, hint. */
const bad: readonly (readonly [string, Schema, string, RegExp, RegExp])[] = [
  [
    'a type that there is not',
    { properties: { a: { type: 'strin' } } },
    'schema.properties.a.type',
    /string, number/,
    /^$/,
  ],
  [
    'a misspelt keyword',
    { items: { requierd: ['a'] } },
    'schema.items.requierd',
    /no keyword/,
    /Did you mean required/,
  ],
  ['a rule of the wrong kind', { required: 'a' }, 'schema.required', /must be array/, /^$/],
  ['an unknown format', { format: 'date-tim' }, 'schema.format', /a format that there is not/, /date-time/],
  ['a pattern that cannot be read', { allOf: [{ pattern: '(' }] }, 'schema.allOf[0].pattern', /./, /^/],
  ['a pattern as a name', { patternProperties: { '[': {} } }, 'schema.patternProperties["["]', /./, /^/],
  [
    'a reference to nothing',
    { items: { $ref: '#/$defs/x' } },
    'schema.items.$ref',
    /leads to nothing/,
    /\$defs/,
  ],
  [
    'a reference outside',
    { $ref: 'https://example.com/s.json' },
    'schema.$ref',
    /nothing is fetched/,
    /Copy/,
  ],
  ['a reference to a file', { $ref: 'other.json#/a' }, 'schema.$ref', /nothing is fetched/, /Copy/],
  ['a schema that waits', { $async: true }, 'schema.$async', /no keyword/, /./],
]

for (const [what, schema, place, message, hint] of bad) {
  test(`${what} in a schema is refused at load, with its place`, () => {
    const [found, reported, hinted] = problemOf(schema)
    assert.equal(found, place)
    assert.match(reported, message)
    assert.match(hinted ?? '', hint)
  })
}

test('references inside the schema and its own ids are followed', async () => {
  const schema = {
    $id: 'https://example.com/tree',
    type: 'object',
    properties: {
      child: { $ref: '#' },
      name: { $ref: '#/definitions/name' },
      other: { $ref: 'tree#/definitions/name' },
    },
    definitions: { name: { type: 'string' } },
  }
  const snapshot = snapshotOf([
    { ...withSchema(schema), id: 'a', match: { path: 'a' } },
    { ...withSchema({ ...schema }), id: 'b', match: { path: 'b' } },
  ])
  const at = async (endpoint: string, payload: unknown) =>
    (await snapshot.resolve(requestOf(payload, { endpoint }))).outcome
  assert.equal(await at('a', { child: { child: { name: 'x' } } }), 'accepted')
  assert.equal(await at('b', { child: { child: { name: 5 } } }), 'refused')
  assert.equal(await at('a', { other: 5 }), 'refused')
})

test('custom keywords must begin with x-', async () => {
  assert.equal(await outcome({ 'x-owner': 'me', properties: { a: { 'x-note': 1 } } }, {}), 'accepted')
})

test('patterns run on the linear engine, and a text that is too long for it is refused with the reason', async () => {
  const schema = { properties: { a: { pattern: '^(a+)+$' } } }
  assert.equal(await outcome(schema, { a: 'aaa' }), 'accepted')
  assert.equal(await outcome(schema, { a: `${'a'.repeat(5000)}b` }), 'refused')
  assert.deepEqual((await detailOf(schema, { a: 'a'.repeat(300_000) }))[0], '')
})

test('formats are checked, and a text that is too long satisfies none', async () => {
  const schema = {
    properties: { at: { format: 'date-time' }, mail: { format: 'email' }, url: { format: 'uri' } },
  }
  assert.equal(
    await outcome(schema, { at: '2026-01-01T00:00:00Z', mail: 'a@b.c', url: 'https://a.b/c' }),
    'accepted',
  )
  assert.deepEqual(await detailOf(schema, { at: 'yesterday' }), ['/at', 'must be a valid date-time'])
  assert.equal(await outcome(schema, { mail: `${'a'.repeat(5000)}@b.c` }), 'refused')
})

test('unique items are compared as JSON values', async () => {
  const schema = { uniqueItems: true }
  const unique = [
    1,
    '1',
    true,
    'true',
    null,
    [],
    {},
    [1],
    ['1'],
    { a: 1, b: 2 },
    { a: 2, b: 1 },
    { a: { b: 1 } },
  ]
  assert.equal(await outcome(schema, unique), 'accepted')
  for (const twice of [
    [1, 1.0],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [[], []],
    [null, null],
  ]) {
    assert.equal(await outcome(schema, twice), 'refused', JSON.stringify(twice))
  }
  assert.equal(await outcome({ uniqueItems: false }, [1, 1]), 'accepted')
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
  const list = Array.from({ length: 12_000 }, (_, id) => ({
    id,
    name: `name${id}`,
    kind: 'b',
    at: '2026-01-01T00:00:00Z',
  }))
  assert.equal(await outcome({ items: item, uniqueItems: true }, list), 'accepted')
  assert.deepEqual(await detailOf({ items: item }, [...list, { id: 1, name: 'x' }]), [
    '/12000/name',
    'must match pattern "^name[0-9]+$"',
  ])
})

test('the length of a text is counted in characters', async () => {
  assert.equal(await outcome({ maxLength: 2, minLength: 2 }, '"😀😀"'), 'accepted')
  assert.deepEqual(await detailOf({ maxLength: 2 }, '"😀😀😀"'), ['', 'must have at most 2 characters'])
  assert.deepEqual(await detailOf({ minLength: 3 }, '"😀😀"'), ['', 'must have at least 3 characters'])
})

test('a payload too deep to check is refused, not failed', async () => {
  const schema = { ...refOfNode, definitions: { node: { properties: { c: refOfNode } } } }
  assert.equal(await outcome(schema, nested(1000)), 'accepted')
  assert.deepEqual(await detailOf(schema, `${'{"c":'.repeat(50_000)}1${'}'.repeat(50_000)}`), [
    '',
    'is nested too deeply to check',
  ])
})
