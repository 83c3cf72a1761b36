/** Compiles programs for tests of matching; used by tests only. */

import type { MappingSource } from '../../config/configuration.ts'
import type { Program } from '../../resolve/model/program.ts'
import type { Report } from '../fields/report.ts'
import { compileMatch } from './compile-match.ts'

const strict: Report = {
  error: ({ path, message }) => {
    throw new Error(`${path.join('.')} ${message}`)
  },
  warn: () => undefined,
}

/** Makes a mapping that only matches. @throws Error if it does not compile */
export function programOf(id: string, match: MappingSource['match']): Program {
  return {
    ...{ number: 1, id, action: 'wake', evaluates: false, place: 'mappings/test.yaml:1:1' },
    matcher: compileMatch(match, strict),
    ...{ checkPayload: undefined, forEach: undefined, vars: [], fields: [], targets: undefined },
    ...{ transform: undefined, strict: false, continues: false, trusted: false },
  }
}
