/** Owns compiling a configuration into the snapshot that serves, or into everything that is wrong with it. */

import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { inFileOrder } from '../config/diagnostic/diagnostic-order.ts'
import { freezeDeep } from '../config/freeze-deep.ts'
import type { Randomness } from '../resolve/admit.ts'
import { createExplain } from '../resolve/explain.ts'
import { createResolve } from '../resolve/resolve.ts'
import { compileRules } from '../resolve/rules.ts'
import type { Transforms } from '../transform/port.ts'
import { createCoverage } from './coverage.ts'
import { createPolicyLookup } from './endpoint-policy.ts'
import { compileMapping, runnerProblem } from './mapping.ts'
import { builtInEndpoints, createDecisionIndex, type Indexed } from './match/decision-index.ts'
import { createReport } from './report.ts'
import type { Catalog, MappingSummary, Snapshot } from './snapshot.ts'

export type Compiled =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Freezes the configuration's settings and policies: they become the snapshot's. Without `transforms` a mapping that
 * names one does not compile.
 */
export function compileSnapshot(
  configuration: Configuration,
  catalog: Catalog,
  randomness: Randomness,
  transforms: Transforms = noTransforms,
): Compiled {
  const { settings, endpoints, digest } = configuration
  const rules = compileRules(settings, catalog.channels)
  const runners = new Set([...catalog.runners, ...Object.keys(settings.agents.runners)])
  const diagnostics: Diagnostic[] = [...configuration.warnings]

  const problem = runnerProblem(rules.defaults.runner, runners)
  if (problem !== undefined) {
    diagnostics.push({
      severity: 'error',
      code: 'UNKNOWN_RUNNER',
      message: `\`agents.defaults.runner\` ${problem.message}`,
      place: configuration.locate(['agents', 'defaults', 'runner']),
      hint: problem.hint,
    })
  }
  const indexed = configuration.mappings.map((entry): Indexed => {
    const report = createReport(entry, diagnostics)
    const program = compileMapping(entry, { rules, runners, transforms }, report)
    return { path: entry.value.match?.path, program }
  })
  if (diagnostics.some(({ severity }) => severity === 'error'))
    return { ok: false, diagnostics: errorsFirst(diagnostics) }

  const index = createDecisionIndex(indexed)
  const policyOf = createPolicyLookup(endpoints)
  const resolve = createResolve({
    candidates: index.candidates,
    rules,
    maxActions: settings.hooks.maxActions,
    maxRenderedBytes: settings.hooks.maxRenderedBytes,
    randomness,
  })
  const snapshot: Snapshot = {
    digest,
    settings,
    endpoints,
    mappings: configuration.mappings.map(summarise),
    covers: (endpoint) =>
      builtInEndpoints.has(endpoint) || index.covers(endpoint) || policyOf(endpoint) !== undefined,
    policyOf,
    resolve: (request) => resolve(request),
    explain: createExplain({ resolve, covering: createCoverage(configuration, index) }),
  }
  return { ok: true, snapshot: freezeDeep(snapshot), warnings: inFileOrder(diagnostics) }
}

const noTransforms: Transforms = { bind: () => undefined }

function summarise({ id, value, label }: MappingEntry): MappingSummary {
  return {
    id,
    description: value.description,
    path: value.match?.path,
    action: value.action,
    place: label,
  }
}

function errorsFirst(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const { error = [], warning = [] } = Object.groupBy(inFileOrder(diagnostics), ({ severity }) => severity)
  return [...error, ...warning]
}
