/** Lists the diagnostics about a reload itself, which belong to no file. */

import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { GenerationRecord } from './generation.ts'

export const closing: Diagnostic = {
  severity: 'error',
  code: 'RELOADER_CLOSED',
  message: 'The gateway is closing; the candidate was not swapped in',
}

export const overruled: Diagnostic = {
  severity: 'error',
  code: 'OVERRULED',
  message: 'A rollback was asked for meanwhile, which does not wait for the tests of this change',
  hint: 'Change a file to try again.',
}

export function rolledBack(generation: number): Diagnostic {
  return {
    severity: 'warning',
    code: 'ROLLED_BACK',
    message: `Generation ${generation} serves in the place of the files, which did not change since the rollback`,
    hint: 'Change a file, or let `reveille reload` end the rollback.',
  }
}

export function rollbackLost(generation: number): Diagnostic {
  return {
    severity: 'warning',
    code: 'ROLLBACK_LOST',
    message: `Generation ${generation}, which was rolled back to, cannot serve again; the files do`,
    hint: 'It is not kept any more, or what it needs besides its files is not there.',
  }
}

export function generationNotKept(generation: number, records: readonly GenerationRecord[]): Diagnostic {
  const kept = records.flatMap((record) => record.generation ?? [])
  return {
    severity: 'error',
    code: 'GENERATION_NOT_KEPT',
    message: `Generation ${generation} is not kept`,
    hint: kept.length === 0 ? 'None is.' : `Kept are ${kept.join(', ')}.`,
  }
}
