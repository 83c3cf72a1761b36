/** Owns lint: what a configuration that compiles says without meaning it. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, TestEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { defaultTestTime } from '../config/time.ts'
import type { HookRequest } from '../resolve/decision.ts'
import { lintContradictions } from './contradictions.ts'
import { lintDedupe } from './dedupe.ts'
import { overlap } from './implication/endpoints.ts'
import { readClauses } from './implication/match.ts'
import { lintTests } from './missing-tests.ts'
import { lintReachability } from './reachability.ts'
import { lintRouting } from './routing.ts'
import { type Sample, sampleOfTest } from './sample.ts'
import { lintCondition, lintElement, lintReferences, lintSingleBraces } from './texts.ts'
import { lintFields } from './unknown-fields.ts'
import { lintUnmetClauses } from './unmet-clauses.ts'
import { createWarnings } from './warnings.ts'

export interface LintOptions {
  /** Without errors. What loading and compiling warned of is not told again. */
  readonly configuration: Configuration
  /** Finds the mapping that a test leads to where the test does not name one. */
  readonly snapshot?: Snapshot
  /** Besides the bodies of the tests. */
  readonly samples?: readonly Sample[]
}

/** Warnings, by file in matching order, each from top to bottom. Presets are judged only by what they hide or hides them. */
export async function lintConfiguration({
  configuration,
  snapshot,
  samples = [],
}: LintOptions): Promise<readonly Diagnostic[]> {
  const { mappings, tests } = configuration
  const warnings = createWarnings(mappings)
  const read = mappings.map((entry) => ({ entry, clauses: readClauses(entry.value.match) }))
  const recorded = new Set(samples)
  const known = [...tests.flatMap((test) => sampleOfTest(test) ?? []), ...samples]

  lintReachability(read, warnings)
  for (const mapping of read) {
    const { entry, clauses } = mapping
    if (entry.origin.kind === 'preset') continue
    lintContradictions(mapping, warnings)
    lintRouting(entry, warnings)
    lintReferences(entry, warnings)
    lintSingleBraces(entry, warnings)
    lintElement(entry, warnings)
    lintDedupe(entry, warnings)
    const ofEndpoint = known.filter(({ endpoint }) => overlap(clauses.path, endpoint))
    lintCondition(entry, ofEndpoint, warnings)
    await lintFields(mapping, ofEndpoint, warnings)
    await lintUnmetClauses(mapping, ofEndpoint, recorded, warnings)
  }
  lintTests(mappings, tests, snapshot ? await metBy(tests, snapshot) : new Map(), warnings)
  return warnings.diagnostics()
}

/** One after the other: evaluations share the event loop, and nobody waits for lint. */
async function metBy(
  tests: readonly TestEntry[],
  snapshot: Snapshot,
): Promise<ReadonlyMap<TestEntry, ReadonlySet<string>>> {
  const met = new Map<TestEntry, ReadonlySet<string>>()
  for (const test of tests) {
    const sample = sampleOfTest(test)
    if (sample === undefined) continue
    const decision = await snapshot.resolve(requestOf(test, sample))
    const actions = decision.outcome === 'accepted' ? decision.actions : []
    const own = 'mapping' in decision ? [decision.mapping] : []
    const ids = [...own, ...actions.map(({ mapping }) => mapping)]
    met.set(test, new Set(ids.filter((id) => id !== undefined)))
  }
  return met
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
