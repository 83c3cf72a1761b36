/** Owns which checks there are, in the order in which they are told. */

import type { Check } from '../check.ts'
import { configuration } from './configuration.ts'
import { nodeVersion } from './node-version.ts'

export function checks(_options: { readonly online?: boolean }): readonly Check[] {
  return [configuration, nodeVersion]
}
