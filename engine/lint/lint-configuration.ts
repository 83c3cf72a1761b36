/** Lints a configuration that compiles: it reports what the author wrote and hardly meant. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, TestEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { overlapsPath } from '../config/values/path-overlap.ts'
import { defaultTestTime } from '../config/values/time.ts'
import type { HookRequest } from '../resolve/model/decision.ts'
import { readClauses } from './implication.ts'
import { lintTests } from './missing-tests.ts'
import { lintReachability } from './reachability.ts'
import { lintDeadKeys, lintDedupe, lintRouting, lintUnfiltered } from './routing.ts'
import { type Sample, sampleOfTest } from './sample.ts'
import { lintCondition, lintElement, lintWords } from './texts.ts'
import { lintFields } from './unknown-fields.ts'
import { lintUnmetClauses } from './unmet-clauses.ts'
import { createWarnings } from './warnings.ts'

export interface LintOptions {
  /** It has no errors. The warnings of loading and compiling are not repeated. */
  readonly configuration: Configuration
  /** Finds the mapping that a test reaches where the test does not name one. */
  readonly snapshot?: Snapshot
  /** Samples besides the bodies of the tests. */
  readonly samples?: readonly Sample[]
}

/** Returns warnings by file in matching order. Of presets it reports only mappings that are hidden or that hide others. */
export async function lintConfiguration({
  configuration,
  snapshot,
  samples = [],
}: LintOptions): Promise<readonly Diagnostic[]> {
  const { mappings, tests } = configuration
  const warnings = createWarnings(mappings)
  const readMappings = mappings.map((entry) => ({ entry, clauses: readClauses(entry.value.match) }))
  const recorded = new Set(samples)
  const known = [...tests.flatMap((test) => sampleOfTest(test) ?? []), ...samples]

  lintReachability(readMappings, warnings)
  for (const mapping of readMappings) {
    const { entry, clauses } = mapping
    if (entry.origin.kind === 'preset') continue
    lintRouting(entry, warnings)
    lintWords(entry, warnings)
    lintElement(entry, warnings)
    lintDedupe(entry, warnings)
    lintDeadKeys(entry, warnings)
    lintUnfiltered(entry, warnings)
    const ofEndpoint = known.filter(({ endpoint }) => overlapsPath(clauses.path, endpoint))
    lintCondition(entry, ofEndpoint, warnings)
    await lintFields(mapping, ofEndpoint, warnings)
    await lintUnmetClauses(mapping, ofEndpoint, recorded, warnings)
  }
  lintTests(mappings, tests, snapshot ? await reachedBy(tests, snapshot) : new Map(), warnings)
  return warnings.diagnostics()
}

/** Resolves the requests of the tests one after the other, because evaluations share the event loop. */
async function reachedBy(
  tests: readonly TestEntry[],
  snapshot: Snapshot,
): Promise<ReadonlyMap<TestEntry, ReadonlySet<string>>> {
  const reached = new Map<TestEntry, ReadonlySet<string>>()
  for (const test of tests) {
    const sample = sampleOfTest(test)
    if (sample === undefined) continue
    const decision = await snapshot.resolve(requestOf(test, sample))
    const actions = decision.outcome === 'accepted' ? decision.actions : []
    const own = 'mapping' in decision ? [decision.mapping] : []
    const ids = [...own, ...actions.map(({ mapping }) => mapping)]
    reached.set(test, new Set(ids.filter((id) => id !== undefined)))
  }
  return reached
}

function requestOf({ value: { request, now } }: TestEntry, { payload }: Sample): HookRequest {
  return {
    endpoint: request.endpoint,
    headers: request.headers ?? {},
    query: request.query ?? {},
    payload,
    rawBody: Buffer.from(request.bodyText ?? JSON.stringify(payload)),
    now: Date.parse(now ?? defaultTestTime),
  }
}
