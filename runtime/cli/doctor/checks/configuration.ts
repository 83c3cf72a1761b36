/** Checks the configuration as `reveille check` does: all that loading and compiling say of it. */

import { type Diagnostic, formatPlace } from '@reveille/engine'
import { counted } from '../../counted.ts'
import { type Check, ok, type Result } from '../check.ts'
import type { Subject } from '../subject.ts'

export const configuration: Check = {
  name: 'configuration',
  group: 'configuration',
  async run(subject) {
    const { compiled } = subject
    const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
    const results = diagnostics.map((diagnostic) => resultOf(diagnostic, subject))
    if (!compiled.ok) return results
    return [ok(`it loads: ${counted(compiled.snapshot.mappings.length, 'mapping')}`), ...results]
  },
}

function resultOf({ severity, code, message, hint, place }: Diagnostic, { io }: Subject): Result {
  return {
    state: severity === 'error' ? 'problem' : 'warning',
    code,
    message,
    ...(hint !== undefined && { fix: hint }),
    ...(place !== undefined && { place: formatPlace(place, io.cwd) }),
  }
}
