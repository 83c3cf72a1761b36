/** Tests a channel to a vendor's service against a fake server of that service. */

import { describe, test } from 'node:test'
import { arrivalTests } from './arrival.ts'
import { checkedText } from './assertions.ts'
import { channelTests } from './channel.ts'
import { configurationTests } from './configuration.ts'
import { connectionTests } from './connections.ts'
import { setUp, type VendorConformance, type VendorSetup, type VendorTests } from './opened-vendor.ts'
import { refusalTests } from './refusals.ts'
import { secrecyTests } from './secrecy.ts'

export type { VendorConformance } from './opened-vendor.ts'

/** The tests that need a vendor, by their subject. */
export const vendorTests = {
  arrival: arrivalTests,
  refusals: refusalTests,
  connections: connectionTests,
  secrecy: secrecyTests,
  configuration: configurationTests,
}

/**
 * Runs everything in `channelConformance`, and tests that need a vendor: what it has stored, how it refuses, and how
 * connections fail. The plugin's own `setup` sets the channel up, with the configuration of the fake server.
 */
export function vendorConformance(given: VendorConformance): void {
  const options = { ...given, visibleText: checkedText(given.visibleText) }
  describe(options.name, () => {
    channelTests({ ...options, create: () => createFixture(options) })
    for (const tests of Object.values(vendorTests)) runVendorTests(tests, options)
  })
}

export function runVendorTests(tests: VendorTests, options: Omit<VendorConformance, 'name'>): void {
  for (const [name, ask] of Object.entries(tests)) {
    test(name, async (t) => {
      await using used = await setUp(options)
      await ask(used, options, t)
    })
  }
}

async function createFixture(options: VendorSetup) {
  const used = await setUp(options)
  const { vendor, channel } = used
  return {
    channel,
    messages: () => vendor.messages.map(({ text }) => text),
    stall: () => vendor.always({ kind: 'hang-before' }),
    fail: () => vendor.always({ kind: 'answer', answer: vendor.refusals.serverError }),
    secrets: vendor.secrets,
    close: () => used[Symbol.asyncDispose](),
  }
}
