/** Owns the table of providers: how each sender signs, what names a delivery, and for how long it tries. Data only. */

import { business } from './business.ts'
import { code } from './code.ts'
import { messages } from './messages.ts'
import { platforms } from './platforms.ts'
import type { ProviderRow } from './scheme.ts'

/** By name. */
export const providerRows: readonly ProviderRow[] = Object.freeze(
  [...code, ...business, ...messages, ...platforms].sort((a, b) => (a.name < b.name ? -1 : 1)),
)

const byName = new Map(providerRows.map((row) => [row.name, row]))

/** All that `verify.provider` may say: those of the table, and `hmac` for any other. */
export const providerNames: readonly string[] = Object.freeze(['hmac', ...byName.keys()].sort())

/** Undefined for `hmac`, whose row the configuration writes, and for a name that nobody has. */
export function providerRow(name: string): ProviderRow | undefined {
  return byName.get(name)
}
