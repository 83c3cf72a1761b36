/** A generation as the admin surface answers it. */

import type { GenerationRecord } from '@reveille/engine'
import { counted } from '../counted.ts'

export type GenerationItem = GenerationRecord & {
  /** Present where a rollback serves it in the place of the files. */
  readonly rolledBack?: true
  /** Present where it was refused, and the files are still the same. */
  readonly stands?: true
}

/** `2 errors`. */
export function errorsOf({ diagnostics }: Pick<GenerationRecord, 'diagnostics'>): string {
  return counted(diagnostics.filter(({ severity }) => severity === 'error').length, 'error')
}
