import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { providerNames, providerRows } from '../providers/index.ts'
import { createProvider } from './provider.ts'
import { noDependencies, requestOf, seconds } from './signing-fixture.ts'

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const publicUrl = 'https://hooks.example.com/hooks/x'
const options = { seed: 20260115, numRuns: 60 }

const names = JSON.stringify(providerRows).match(/(?<=")[a-z0-9]+(-[a-z0-9]+)+(?=\*?")/g) ?? []
const symmetric = providerNames.filter((name) => createProvider({ provider: name, secret }).verifier)

const nearly = ['t=,v1=', 'sha256=', 'v1, v1, v1,', '=,=;', '__proto__', `t=${seconds},v1=${'0'.repeat(64)}`]
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.constantFrom(...nearly))
const name = fc.oneof(fc.constantFrom(...names, 'content-type', '__proto__'), fc.string())
const value = fc.oneof(text, fc.array(text, { maxLength: 3 }))
const anyHeaders = fc.dictionary(name, value, { noNullPrototype: false, maxKeys: 12 })
const unfinished = fc.constantFrom('[', '{"signature":', '{"signature":{"signature":7}}', '%', '&&==%zz')
const anyBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.oneof(fc.json(), unfinished).map((each) => Buffer.from(each)),
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
