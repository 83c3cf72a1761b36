/** Tests whether and when a channel wants a retry after a refusal of its vendor. */

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { badGateway, factsOf } from '../fake-server/index.ts'
import type { PluginError } from '../plugin-error.ts'
import { type Configuration, type OpenVendor, setUp, type VendorTests } from './opened-vendor.ts'

/** The seconds to wait, unlike any default of a channel. */
const wait = 7

export const refusalTests: VendorTests = {
  async 'holds the whole channel back when the credential is refused'(used) {
    used.vendor.always({ kind: 'answer', answer: used.vendor.refusals.badCredential })
    assertBadCredential(await used.failure())
  },

  async 'holds the whole channel back when it has another credential than the vendor'(_, options, t) {
    await using used = await setUp(options, withOtherCredentials)
    if (used.vendor.secrets.length === 0) return t.skip('the vendor asks for no credential')
    assertBadCredential(await used.failure())
    assert.deepEqual(used.vendor.messages, [])
  },

  async 'reports that no retry helps if sending is not allowed'(used) {
    used.vendor.script({ kind: 'answer', answer: used.vendor.refusals.forbidden })
    assertPermanent(await used.failure(), used)
  },

  async 'reports that no retry helps with an unknown address'(used) {
    assertPermanent(await used.failure({ to: used.vendor.unknownTo }), used)
  },

  async 'reports how long the vendor asks to wait, and leaves retries to the host'(used) {
    const { refusals } = used.vendor
    used.vendor.script({ kind: 'answer', answer: refusals.rateLimited(wait) })
    const error = await used.failure()
    assert.match(factsOf(error), /^rate-limited retryable(?: wholeService)?(?: after|$)/)
    assert.deepEqual(used.vendor.messages, [], 'nothing is stored')
    const { retryAfter } = error
    const saysWait = !isDeepStrictEqual(refusals.rateLimited(wait), refusals.rateLimited(wait + 1))
    if (saysWait) assert.ok((retryAfter ?? 0) >= wait, `it waits for ${wait} s and not ${retryAfter}`)
    else assert.ok(retryAfter === undefined || retryAfter > 0, 'it waits')
  },

  async 'distinguishes an error of the vendor that may have delivered from one that has not'(used) {
    const { serverError, serverErrorIsSafe = false } = used.vendor.refusals
    used.vendor.script({ kind: 'answer', answer: serverError })
    assertUnsure(await used.failure(), used, serverErrorIsSafe)
    assert.deepEqual(used.vendor.messages, [], 'the host tries again, and not the channel')
  },

  async 'does not take the page of a proxy for an answer of the vendor'(used) {
    used.vendor.script({ kind: 'answer', answer: badGateway })
    const { code, message, retryable, maybeDelivered } = await used.failure()
    const facts = `nothing reached the vendor, so that it is sent again: ${code}, ${message}`
    assert.deepEqual([retryable, maybeDelivered], [true, false], facts)
    assert.deepEqual(used.vendor.messages, [], 'the host tries again, and not the channel')
  },

  async 'does not take a page for a receipt, even with a good status'(used) {
    const page = {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<html>Welcome to the hotel</html>',
    }
    used.vendor.script({ kind: 'answer', answer: page })
    await used.failure()
  },

  async 'follows no redirect'(used) {
    const { vendor } = used
    const answer = { status: 307, headers: { location: `${vendor.url}/elsewhere` } }
    vendor.script({ kind: 'answer', answer })
    const { code, retryable } = await used.failure()
    assert.deepEqual([code, retryable], ['redirected', false])
    assert.ok(!vendor.requests.some(({ path }) => path === '/elsewhere'), 'nothing goes elsewhere')
  },

  async 'refuses an answer of 2 MiB'(used) {
    const answer = { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(2 ** 21)}"` }
    used.vendor.script({ kind: 'answer', answer })
    assertUnsure(await used.failure(), used)
  },
}

function assertBadCredential(error: PluginError): void {
  assert.equal(factsOf(error), 'bad-credential retryable wholeService')
}

function assertPermanent(error: PluginError, { vendor }: OpenVendor): void {
  assert.equal(factsOf(error), error.code, error.message)
  assert.deepEqual(vendor.messages, [], 'nothing is stored')
}

/** Asserts that a repeat may give a second message, which is so unless the vendor recognises repeats or says that nothing was done. */
function assertUnsure(error: PluginError, { channel }: OpenVendor, isSafe = false): void {
  if (isSafe || channel.idempotency !== undefined) return
  assert.equal(error.maybeDelivered, true, `it may have been delivered: ${error.code}, ${error.message}`)
}

/** Changes the last character of each secret in the configuration. */
export function withOtherCredentials(config: Configuration, secrets: readonly string[]): Configuration {
  const text = secrets.reduce(
    (rest, secret) =>
      rest.replaceAll(
        JSON.stringify(secret),
        JSON.stringify(`${secret.slice(0, -1)}${secret.endsWith('7') ? '8' : '7'}`),
      ),
    JSON.stringify(config),
  )
  return JSON.parse(text)
}
