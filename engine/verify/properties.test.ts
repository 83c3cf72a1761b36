import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { providerNames, providerRows } from '../providers/index.ts'
import { createProvider } from './provider.ts'
import { digest, judge, noDependencies, now, requestOf, type Sent, seconds } from './signing-fixture.ts'

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const publicUrl = 'https://hooks.example.com/hooks/x'
const options = { seed: 20260115, numRuns: 60 }

/** Makes a valid request with any body, for one sender of each kind of signature. */
const good: Readonly<Record<string, (body: string) => Sent>> = {
  github: (body) => ({ body, headers: { 'x-hub-signature-256': `sha256=${digest(body, secret)}` } }),
  stripe: (body) => ({
    body,
    headers: { 'stripe-signature': `t=${seconds},v1=${digest(`${seconds}.${body}`, secret)}` },
  }),
  svix: (body) => {
    const key = Buffer.from(secret.slice(6), 'base64')
    const signature = `v1,${digest(`m.${seconds}.${body}`, key, 'sha256', 'base64')}`
    return {
      body,
      headers: { 'svix-id': 'm', 'svix-timestamp': String(seconds), 'svix-signature': signature },
    }
  },
  hubspot: (body) => {
    const signature = digest(`POST${publicUrl}${body}${now}`, secret, 'sha256', 'base64')
    return {
      body,
      target: '/hooks/x',
      headers: { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': String(now) },
    }
  },
}

const cases = fc.constantFrom(...Object.keys(good))

test('any change of the body, of a header or of the time makes a good request a bad one', async () => {
  const property = fc.asyncProperty(
    cases,
    fc.string({ unit: 'grapheme' }),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    async (provider, body, place, change) => {
      const sent = good[provider]?.(body) ?? {}
      const policy = { provider, secret, publicUrl }
      assert.equal(await judge(policy, sent), 'good')

      const bytes = Buffer.from(`${body}x`)
      const at = place % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ change
      assert.notEqual(await judge(policy, { ...sent, body: bytes }), 'good')

      for (const [name, value] of Object.entries(sent.headers ?? {})) {
        const text = String(value)
        const digits = [...text.matchAll(/[0-9a-f]/g)]
        const found = digits[place % Math.max(digits.length, 1)]
        if (found === undefined) continue
        const other = found[0] === '1' ? '2' : '1'
        const changed = text.slice(0, found.index) + other + text.slice(found.index + 1)
        // Another digit in a version makes another version, and an unknown element is ignored.
        assert.notEqual(
          await judge(policy, { ...sent, headers: { ...sent.headers, [name]: changed } }),
          'good',
        )
      }
    },
  )
  await fc.assert(property, options)
})

test('a good request is refused at any time that is not near the time of its signature', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom('stripe', 'svix', 'hubspot'),
    fc.integer({ min: -1e12, max: 1e12 }).filter((ms) => Math.abs(ms) > 301_000),
    async (provider, ms) => {
      const sent = { ...good[provider]?.('{}'), now: now + ms }
      assert.equal(await judge({ provider, secret, publicUrl }, sent), 'TIMESTAMP_OUTSIDE')
    },
  )
  await fc.assert(property, options)
})

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
