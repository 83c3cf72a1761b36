/** Owns what a channel to a vendor's service must do, as tests against a fake server of that service. */

import { describe } from 'node:test'
import type { Part } from '../channel.ts'
import { arrivalTests } from './arrival.ts'
import { channelTests } from './channel.ts'
import { configurationTests } from './configuration.ts'
import { connectionTests } from './connections.ts'
import { setUp, type VendorSetup } from './opened-vendor.ts'
import { refusalTests } from './refusals.ts'
import { secrecyTests } from './secrecy.ts'

export interface VendorConformance extends VendorSetup {
  /** The suite's name in the report. */
  readonly name: string
  /** What a person reads of a part: markup taken as markup. Pure, and not by way of the renderer that is tried. */
  visibleText(part: Part): string
  /** Addresses by the place that they mean; the first of the first place takes messages. */
  readonly places: readonly (readonly string[])[]
  /** Texts that are no address; blank ones are tried besides. */
  readonly badAddresses: readonly string[]
  /** False where the vendor's markup has no fences of its own. Default: true. */
  readonly fences?: boolean
}

/**
 * All that `channelConformance` asks, and what only a vendor can be asked: what it has stored, how it refuses, how
 * connections fail. The channel is set up by the plugin's own `setup`, with the configuration of the fake server.
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
