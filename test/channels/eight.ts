/** Starts the eight fake vendors of a test until it ends, and returns the configuration for them. */

import type { TestContext } from 'node:test'
import type { FakeVendor } from '@reveille/kit/fake-server'
import { atEnd } from '../at-end.ts'

export const vendorNames = [
  'slack',
  'telegram',
  'discord',
  'mattermost',
  'whatsapp',
  'signal',
  'imessage',
  'msteams',
] as const
export type VendorName = (typeof vendorNames)[number]

/** The vendors whose service gives one message for a key that is sent twice. */
export const recognisesRepeats: ReadonlySet<VendorName> = new Set(['discord', 'mattermost'])

/** A failure that each vendor reports with this status, in the form of its API. */
export const failureWords: Readonly<Record<VendorName, (status: number) => object>> = {
  telegram: (status) => ({ ok: false, error_code: status, description: 'no' }),
  discord: () => ({ code: 0, message: 'no' }),
  slack: () => ({ ok: false, error: 'internal_error' }),
  mattermost: (status) => ({ id: 'app.post.other.app_error', message: 'no', status_code: status }),
  whatsapp: () => ({ error: { code: 2, message: 'Service temporarily unavailable', is_transient: true } }),
  signal: () => ({ error: 'no' }),
  imessage: (status) => ({ status, error: { type: 'Server Error', message: 'no' } }),
  msteams: () => ({ error: { code: 'ServiceError', message: 'no' } }),
}

export interface Vendors {
  readonly byName: Readonly<Record<VendorName, FakeVendor>>
  /** The value of `channels:` as JSON, which is also YAML. */
  readonly configuration: string
  /** The value of `deliverTo:`, with an address of each vendor that takes messages. */
  readonly addresses: readonly { readonly channel: VendorName; readonly to: string }[]
}

export async function openVendors(t: TestContext): Promise<Vendors> {
  const entries = await Promise.all(
    vendorNames.map(async (name) => [name, await openVendor(t, name)] as const),
  )
  return {
    byName: Object.fromEntries(entries) as Record<VendorName, FakeVendor>,
    configuration: JSON.stringify(Object.fromEntries(entries.map(([name, { config }]) => [name, config]))),
    addresses: entries.map(([channel, { to }]) => ({ channel, to })),
  }
}

async function openVendor(t: TestContext, name: VendorName): Promise<FakeVendor> {
  const stand: { openVendor(): Promise<FakeVendor> } = await import(
    `../../plugins/${name}/fake-server/index.ts`
  )
  const vendor = await stand.openVendor()
  atEnd(t, () => vendor.close())
  return vendor
}
