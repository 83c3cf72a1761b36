import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { providerNames, providerRows } from '../providers/index.ts'
import { createProvider } from './provider.ts'
import { noDependencies, requestOf, seconds } from './signing-fixture.ts'

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const publicUrl = 'https://hooks.example.com/hooks/x'
const options = { seed: 20260115, numRuns: 60 }

const names = providerRows.flatMap(({ schemes }) =>
  schemes.flatMap((scheme): readonly string[] => {
    if (scheme.family === 'token') return [scheme.header]
    if (scheme.family !== 'hmac' || 'body' in scheme.signature) return []
    const from = scheme.timestamp?.from
    const times = from && 'header' in from ? from.header : []
    const ids = Array.isArray(scheme.id) ? scheme.id : []
    return [...scheme.signature.headers.map((name) => name.replace('*', '1')), ...times, ...ids]
  }),
)
const symmetric = providerNames.filter((name) => createProvider({ provider: name, secret }).verifier)

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    't=,v1=',
    'sha256=',
    'v1, v1, v1,',
    '=,=;',
    '__proto__',
    `t=${seconds},v1=${'0'.repeat(64)}`,
  ),
)
const anyHeaders = fc.dictionary(
  fc.oneof(fc.constantFrom(...names, 'content-type', '__proto__'), fc.string()),
  fc.oneof(text, fc.array(text, { maxLength: 3 })),
  { noNullPrototype: false, maxKeys: 12 },
)
const anyBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((json) => Buffer.from(json)),
  fc
    .constantFrom('[', '{"signature":', '{"signature":{"signature":7}}', '%', '&&==%zz')
    .map((each) => Buffer.from(each)),
)

test('every combination of headers and body has a result, which is not a good one', async () => {
  assert.ok(symmetric.length > 25)
  const property = fc.asyncProperty(
    fc.constantFrom(...symmetric),
    anyHeaders,
    anyBody,
    fc.string(),
    async (provider, headers, body, target) => {
      const { verifier, deliveryIdOf } = createProvider({ provider, secret, publicUrl })
      verifier?.isPresent(headers)
      const result = await verifier?.verify(requestOf({ headers, body, target }), noDependencies)
      assert.equal(result?.ok, false)
      deliveryIdOf({ headers, payload: undefined, rawBody: body })
    },
  )
  await fc.assert(property, { ...options, numRuns: 800 })
})

test('looking up the id of a delivery does not throw, whatever the payload', () => {
  const property = fc.property(fc.constantFrom(...providerNames), fc.jsonValue(), (provider, payload) => {
    const id = createProvider({ provider }).deliveryIdOf({ headers: {}, payload, rawBody: Buffer.alloc(0) })
    assert.ok(id === undefined || id.length <= 200)
  })
  fc.assert(property, { ...options, numRuns: 400 })
})
