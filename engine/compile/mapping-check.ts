/** Checks a compiled mapping against the settings and the names that the host knows. */

import type { MappingSource } from '../config/configuration.ts'
import { nearestName } from '../config/values/nearest.ts'
import type { Rules } from '../resolve/admit/rules.ts'
import { checkLiteral } from './fields/literal.ts'
import { checkPlaceholder } from './fields/placeholder.ts'
import type { Report } from './fields/report.ts'
import type { CompiledMapping } from './mapping.ts'

/** What a mapping is checked against besides its own text. */
export interface CompileContext {
  readonly rules: Rules
  readonly runners: ReadonlySet<string>
}

/** Its findings stay valid as long as the context does not change. */
export function checkMapping(
  source: MappingSource,
  { pendingChecks }: CompiledMapping,
  { rules, runners }: CompileContext,
  report: Report,
): void {
  const problem = runnerProblem(source.runner, runners)
  if (problem !== undefined) report.error({ code: 'UNKNOWN_RUNNER', path: ['runner'], ...problem })
  for (const question of pendingChecks) {
    checkPlaceholder(question, source, rules, report)
    const { name, path, value, placeholder, choices } = question
    const written = placeholder === undefined ? [value] : (choices ?? [])
    for (const each of new Set(written)) checkLiteral(name, path, each, source, rules, report)
  }
}

/** Checks the name of a runner, in a mapping or in the settings. */
export function runnerProblem(
  runner: string | undefined,
  runners: ReadonlySet<string>,
): { message: string; hint: string } | undefined {
  if (runner === undefined || runners.has(runner)) return undefined
  const nearest = nearestName(runner, runners)
  return {
    message: `must be one of ${[...runners].sort().join(', ')}`,
    hint:
      nearest === undefined
        ? 'Name one of them, or add it under agents.runners.'
        : `Did you mean ${nearest}?`,
  }
}
