/** Reports everything that loading and compiling say about the configuration, as `reveille check` does. */

import { type Diagnostic, formatPlace } from '@reveille/engine'
import { counted } from '../../counted.ts'
import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import type { Subject } from '../subject.ts'

/** A report has at most so many findings, because ten thousand mappings can have as many. */
const mostReported = 50

export const configuration: Check = {
  name: 'configuration',
  group: 'configuration',
  title: 'files',
  async run(subject) {
    const { compiled, io } = subject
    const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
    const results = diagnostics.slice(0, mostReported).map((diagnostic) => resultOf(diagnostic, subject))
    const left = diagnostics.length - results.length
    const report = compiled.ok ? warning : problem
    if (left > 0)
      results.push(report('MORE_DIAGNOSTICS', `there are ${left} more`, `${pasted('check', io)} shows all`))
    if (!compiled.ok) return results
    return [ok(`they load: ${counted(compiled.snapshot.mappings.length, 'mapping')}`), ...results]
  },
}

function resultOf({ severity, code, message, hint, place }: Diagnostic, { io }: Subject): Result {
  const result = severity === 'error' ? problem(code, message, hint) : warning(code, message, hint)
  return place === undefined ? result : { ...result, place: formatPlace(place, io.cwd) }
}
