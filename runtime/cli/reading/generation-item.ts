/** Owns a generation as the admin surface answers it. */

import type { GenerationRecord } from '@reveille/engine'
import { counted } from '../counted.ts'

export type GenerationItem = GenerationRecord & {
  /** It is live in the place of the files. */
  readonly rolledBack?: true
  /** It was refused, and the files are as they were then. */
  readonly stands?: true
}

/** `2 errors`. */
export function errorsOf({ diagnostics }: Pick<GenerationRecord, 'diagnostics'>): string {
  return counted(diagnostics.filter(({ severity }) => severity === 'error').length, 'error')
}
