/** Joins the rows of all providers into one table, and finds them by name. */

import { business } from './business.ts'
import { code } from './code.ts'
import { messages } from './messages.ts'
import { platforms } from './platforms.ts'
import type { ProviderRow } from './scheme.ts'

/** The rows in the order of their names. */
export const providerRows: readonly ProviderRow[] = Object.freeze(
  [...code, ...business, ...messages, ...platforms].sort((a, b) => (a.name < b.name ? -1 : 1)),
)

const byName = new Map(providerRows.map((row) => [row.name, row]))

/** All values of `verify.provider`: the names of the table, and `hmac` for any other sender. */
export const providerNames: readonly string[] = Object.freeze(['hmac', ...byName.keys()].sort())

/** Returns undefined for `hmac`, whose row the configuration writes, and for an unknown name. */
export function providerRow(name: string): ProviderRow | undefined {
  return byName.get(name)
}
