/** Tests whether a channel knows, when a connection fails, if the message was sent, was not, or may have been. */

import assert from 'node:assert/strict'
import { badGateway, type Fault, factsOf } from '../fake-server/index.ts'
import { within } from './deadline.ts'
import { type OpenVendor, setUp, shortText, type VendorTests } from './opened-vendor.ts'

export const connectionTests: VendorTests = {
  async 'ends with its deadline and closes the connection when the vendor is silent'(_used, options) {
    for (const kind of ['hang-before', 'hang-after'] as const) {
      await using used = await setUp(options)
      const error = await abortedSend(used, kind, new DOMException('The deadline is over.', 'TimeoutError'))
      assert.deepEqual([error.code, error.retryable], ['timeout', true])
      assertUnsure(used, error)
    }
  },

  async 'ends soon when aborted while the vendor works'(used) {
    const error = await abortedSend(used, 'hang-after', new DOMException('The host drains.', 'AbortError'))
    assert.deepEqual([error.code, error.retryable], ['aborted', true])
    assertUnsure(used, error)
  },

  async 'knows that nothing was delivered when the connection is refused'(used) {
    await used.vendor.close()
    assert.equal(factsOf(await used.failure()), 'network retryable')
  },

  async 'delivers one message when a cut send is retried, or reports that there may be two'(_, options) {
    for (const kind of ['cut-before', 'cut-after', 'cut-answer'] as const) {
      await using used = await setUp(options)
      used.vendor.script({ kind })
      const error = await used.failure()
      assert.equal(error.retryable, true, `after ${kind} it can be tried again`)
      assertUnsure(used, error)
      if (used.channel.idempotency === undefined) continue
      await used.send(shortText)
      assert.equal(used.vendor.messages.length, 1, `one message after ${kind}`)
    }
  },

  async 'delivers one message when a send that the vendor reported as failed is retried'(used, _options, t) {
    const { vendor, channel } = used
    if (channel.idempotency === undefined) return t.skip('the channel promises no idempotency')
    for (const answer of [vendor.refusals.serverError, badGateway]) {
      vendor.script({ kind: 'answer-after', answer })
      await used.failure()
    }
    await used.send(shortText)
    assert.equal(vendor.messages.length, 1)
  },
}

/** Returns the error of a send that hangs and is then aborted. */
async function abortedSend(
  used: OpenVendor,
  kind: Extract<Fault['kind'], `hang-${string}`>,
  reason: DOMException,
) {
  const abort = new AbortController()
  used.vendor.script({ kind })
  const failing = used.failure({ signal: abort.signal })
  await Promise.race([failing, within(used.vendor.untilHanging(), 'the message reaches the vendor')])
  abort.abort(reason)
  const error = await failing
  await within(used.vendor.untilIdle(), 'the connection is closed')
  return error
}

function assertUnsure({ channel }: OpenVendor, { maybeDelivered }: { maybeDelivered: boolean }): void {
  if (channel.idempotency === undefined) assert.equal(maybeDelivered, true, 'it may have been delivered')
}
