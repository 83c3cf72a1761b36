/**
 * Tests what each channel makes of a vendor that cannot take a message now: it is tried again, with a pause that the vendor may name, and
 * only after an answer that may follow the message's acceptance it may have arrived.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUp } from '../../plugins/kit/conformance/opened-vendor.ts'
import type { FakeServerAnswer, FakeVendor } from '../../plugins/kit/fake-server/index.ts'
import { failureWords, type VendorName } from './eight.ts'
import { pluginOf, vendors } from './vendors.ts'

type Facts = readonly [code: string, maybeDelivered: boolean, retryAfter?: number]
type Break = (vendor: FakeVendor, failureOf: (status: number) => object) => Promise<void> | void

const page = (status: number): FakeServerAnswer => ({
  status,
  headers: { 'content-type': 'text/html', 'retry-after': '7' },
  body: `<html><h1>${status}</h1></html>`,
})
const answer = (vendor: FakeVendor, answered: FakeServerAnswer) =>
  vendor.always({ kind: 'answer', answer: answered })
const own = (status: number, headers = {}): Break => {
  return (vendor, failureOf) => answer(vendor, { status, headers, body: failureOf(status) })
}
const pageOf = (status: number): Break => {
  return (vendor) => answer(vendor, page(status))
}

const cases: readonly (readonly [name: string, break_: Break, facts: Facts])[] = [
  ['503 in its own words', own(503), ['unavailable', false]],
  ['503 in its own words with Retry-After', own(503, { 'retry-after': '7' }), ['unavailable', false, 7]],
  ['500 in its own words', own(500), ['unavailable', true]],
  ['503 of a proxy', pageOf(503), ['unavailable', false, 7]],
  ['502 of a proxy', pageOf(502), ['unavailable', false, 7]],
  ['504 of a proxy', pageOf(504), ['unavailable', true, 7]],
  ['429 of a proxy', pageOf(429), ['rate-limited', false, 7]],
  ['its own limit', (vendor) => answer(vendor, vendor.refusals.rateLimited(7)), ['rate-limited', false, 7]],
  ['a cut connection', (vendor) => vendor.always({ kind: 'cut-before' }), ['network', true]],
  ['a refused connection', (vendor) => vendor.close(), ['network', false]],
]

/** Where a vendor differs, with the reason. */
const differs: Readonly<Record<string, Facts>> = {
  // Graph's code 2 says that the message was not taken, whatever the status is.
  'whatsapp 500 in its own words': ['unavailable', false],
  // Meta names no pause for its limits of one person, and allows one message in 6 s.
  'whatsapp its own limit': ['rate-limited', false, 6],
  // signal-cli-rest-api names no pause either.
  'signal (REST) its own limit': ['rate-limited', false],
}

for (const vendor of vendors) {
  const { name, ways } = vendor
  for (const [way, open] of Object.entries(ways)) {
    for (const [what, break_, facts] of cases) {
      test(`${name} (${way}): ${what}`, async () => {
        await using used = await setUp({ plugin: pluginOf(vendor), open })
        await break_(used.vendor, failureWords[name as VendorName])
        const { code, retryable, maybeDelivered, retryAfter } = await used.failure()
        const expected = differs[`${name} ${what}`] ?? differs[`${name} (${way}) ${what}`] ?? facts
        assert.deepEqual(
          [code, retryable, maybeDelivered, retryAfter],
          [expected[0], true, expected[1], expected[2]],
        )
      })
    }
  }
}
