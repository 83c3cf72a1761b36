/**
 * Knows validators by the text of their schemas: none, where the sources run. In a bundle, code that was generated from the schemas of this
 * repository's plugins takes the place of this file; see `tools/validators.ts`.
 */

import type { ValidateFunction } from 'ajv/dist/2020.js'

export function knownValidator(_schema: string): ValidateFunction | undefined {
  return undefined
}
