/** Tests a channel to a vendor's service against a fake server of that service. */

import { describe } from 'node:test'
import type { Part } from '../channel.ts'
import { arrivalTests } from './arrival.ts'
import { channelTests } from './channel.ts'
import { type ConfigurationOptions, configurationTests } from './configuration.ts'
import { connectionTests } from './connections.ts'
import { setUp, type VendorSetup } from './opened-vendor.ts'
import { refusalTests } from './refusals.ts'
import { secrecyTests } from './secrecy.ts'

export interface VendorConformance extends VendorSetup, Pick<ConfigurationOptions, 'addressKey'> {
  /** The name of the suite in the report. */
  readonly name: string
  /** Returns what a person reads of a part once its markup is applied. Pure, and independent of the tested renderer. */
  visibleText(part: Part): string
  /** Addresses grouped by place. The first address of the first place takes messages. */
  readonly places: readonly (readonly string[])[]
  /** Texts that are not addresses, in addition to blank ones. */
  readonly badAddresses: readonly string[]
  /** Whether the vendor's markup has code fences. Default: true. */
  readonly fences?: boolean
}

/**
 * Runs everything in `channelConformance`, and tests that need a vendor: what it has stored, how it refuses, and how
 * connections fail. The plugin's own `setup` sets the channel up, with the configuration of the fake server.
 */
export function vendorConformance(options: VendorConformance): void {
  describe(options.name, () => {
    channelTests({ ...options, create: () => createFixture(options) })
    arrivalTests(options)
    refusalTests(options)
    connectionTests(options)
    secrecyTests(options)
    configurationTests(options)
  })
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
