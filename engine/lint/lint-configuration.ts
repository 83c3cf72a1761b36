/** Lints a configuration that compiles: it reports what the author wrote and hardly meant. */

import type { Configuration } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { overlapsPath } from '../config/values/path-overlap.ts'
import { readClauses } from './implication.ts'
import { lintTests } from './missing-tests.ts'
import { lintReachability } from './reachability.ts'
import { lintCoalesce, lintDedupe, lintSession, lintUnfiltered } from './routing.ts'
import { type Sample, sampleOfTest } from './sample.ts'
import { lintCondition, lintElement, lintWords } from './texts.ts'
import { lintFields } from './unknown-fields.ts'
import { createWarnings } from './warnings.ts'

export interface LintOptions {
  /** It has no errors. The warnings of loading and compiling are not repeated. */
  readonly configuration: Configuration
  /** Samples besides the bodies of the tests. */
  readonly samples?: readonly Sample[]
}

/** Returns warnings by file in matching order. Of presets it reports only mappings that are hidden or that hide others. */
export async function lintConfiguration({
  configuration,
  samples = [],
}: LintOptions): Promise<readonly Diagnostic[]> {
  const { mappings, tests } = configuration
  const warnings = createWarnings(mappings)
  const readMappings = mappings.map((entry) => ({ entry, clauses: readClauses(entry.value.match) }))
  const allSamples = [...tests.flatMap((test) => sampleOfTest(test) ?? []), ...samples]

  lintReachability(readMappings, warnings)
  for (const mapping of readMappings) {
    const { entry, clauses } = mapping
    if (entry.origin.kind === 'preset') continue
    lintSession(entry, warnings)
    lintWords(entry, warnings)
    lintElement(entry, warnings)
    lintDedupe(entry, warnings)
    lintCoalesce(entry, warnings)
    lintUnfiltered(entry, warnings)
    const ofEndpoint = allSamples.filter(({ endpoint }) => overlapsPath(clauses.path, endpoint))
    await lintCondition(entry, ofEndpoint, warnings)
    await lintFields(mapping, ofEndpoint, warnings)
  }
  lintTests(mappings, tests, warnings)
  return warnings.diagnostics()
}
