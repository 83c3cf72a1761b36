/** Owns running the `tests:` of mapping files on the way that the gateway's requests take. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { TestEntry } from '../config/configuration.ts'
import type { Place } from '../config/diagnostic/diagnostic.ts'
import { defaultTestTime } from '../config/time.ts'
import { backgroundMs, takeTurn } from '../turn.ts'
import { checkExpectation } from './check-expectation.ts'
import { type Observation, observe } from './observation.ts'
import type { TestMemory } from './settled-tests.ts'
import { type ReceivedRequest, type TrialSurface, tryRequest } from './trial.ts'
import { findUnmatched, type Unmatched } from './unmatched.ts'
import type { Shortfall } from './value-check.ts'

/** Something that was not as expected, and where the test says so. */
export interface Mismatch extends Shortfall {
  readonly place: Place
}

export interface TestResult {
  readonly test: TestEntry
  readonly passed: boolean
  /** None where it passed. */
  readonly mismatches: readonly Mismatch[]
  /** Absent where the test itself cannot be run. */
  readonly observed?: Observation
  /** What its transforms called over the network: `jira.ts calls https://jira.example`. Each once. */
  readonly calls: readonly string[]
  /** Where a mapping was expected that did not match: why not. */
  readonly unmatched: readonly Unmatched[]
}

interface RunTestsOptions {
  readonly tests: readonly TestEntry[]
  /** Compiled from the configuration that the tests belong to. */
  readonly snapshot: Snapshot
  readonly surface: TrialSurface
  /** Whether nobody waits for further results. Default: somebody does. */
  isGivenUp?(): boolean
  /** Tests whose results are known are not run. Default: all are. */
  readonly memory?: TestMemory
}

/** One after the other, in their order. Never rejects for what a test says. */
export async function runTests({
  tests,
  snapshot,
  surface,
  isGivenUp = () => false,
  memory,
}: RunTestsOptions): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const test of tests) {
    await takeTurn(backgroundMs)
    if (isGivenUp()) break
    const known = memory?.recall(test)
    const result = known ?? (await runTest(test, snapshot, surface))
    if (known === undefined) memory?.note(result)
    results.push(result)
  }
  return results
}

async function runTest(test: TestEntry, snapshot: Snapshot, surface: TrialSurface): Promise<TestResult> {
  const received = requestOf(test)
  if (received === undefined) return unfit(test)
  const calls = new Set<string>()
  const onCall = (module: string, target: string) => void calls.add(`${module} calls ${target}`)
  const { decision, status, request } = await tryRequest(received, snapshot, surface, onCall)
  const observed = observe(decision, status)
  const { expect } = test.value
  const mismatches = checkExpectation(expect, observed).map((each) => locate(each, test))
  const passed = mismatches.length === 0
  const unmatched = passed || !request ? [] : await findUnmatched(expect, observed, request, snapshot)
  return { test, passed, mismatches, observed, calls: [...calls], unmatched }
}

/** Undefined: its time cannot be read. */
function requestOf({ value }: TestEntry): ReceivedRequest | undefined {
  const { endpoint, headers = {}, query = {}, body, bodyText } = value.request
  const now = Date.parse(value.now ?? defaultTestTime)
  if (Number.isNaN(now)) return undefined
  const text = bodyText ?? (body === undefined ? '' : JSON.stringify(body))
  return {
    endpoint,
    headers: withoutPrototype(headers),
    query: withoutPrototype(query),
    body: Buffer.from(text),
    now,
  }
}

function unfit(test: TestEntry): TestResult {
  const expected = 'a time such as 2026-01-01T00:00:00Z'
  const mismatch = locate({ path: ['now'], expected, actual: String(test.value.now) }, test)
  return { test, passed: false, mismatches: [mismatch], calls: [], unmatched: [] }
}

function locate(shortfall: Shortfall, test: TestEntry): Mismatch {
  return { ...shortfall, place: test.locate(shortfall.path) }
}

/** As the names of a received request have none. */
function withoutPrototype<Value>(names: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.assign(Object.create(null), names)
}
