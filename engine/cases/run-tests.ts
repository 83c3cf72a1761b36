/** Runs the `tests:` of mapping files; a request takes the way that the gateway's requests take. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { TestEntry } from '../config/configuration.ts'
import type { Place } from '../config/file/diagnostic.ts'
import { defaultTestTime } from '../config/values/time.ts'
import { backgroundMs, yieldIfDue } from '../yield.ts'
import { checkExpectation } from './check-expectation.ts'
import { type Observation, observe } from './observation.ts'
import { type ReceivedRequest, type TrySurface, tryRequest } from './try-request.ts'
import { findUnmatched, type Unmatched } from './unmatched.ts'
import type { ValueMismatch } from './value-check.ts'

/** A value that is not as expected, and the place where the test expects it. */
export interface Mismatch extends ValueMismatch {
  readonly place: Place
}

export interface TestResult {
  readonly test: TestEntry
  readonly passed: boolean
  /** Empty where the test passed. */
  readonly mismatches: readonly Mismatch[]
  readonly observed: Observation
  /** Network calls of its transforms, each once: `jira.ts calls https://jira.example`. */
  readonly calls: readonly string[]
  /** Reasons why expected mappings did not match. */
  readonly unmatched: readonly Unmatched[]
}

interface RunTestsOptions {
  readonly tests: readonly TestEntry[]
  /** Compiled from the configuration that the tests belong to. */
  readonly snapshot: Snapshot
  readonly surface: TrySurface
  /** True once the run is to end early. Default: it is not. */
  isGivenUp?(): boolean
}

/** Runs the tests one after the other. Never rejects for what a test says. */
export async function runTests({
  tests,
  snapshot,
  surface,
  isGivenUp = () => false,
}: RunTestsOptions): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const test of tests) {
    await yieldIfDue(backgroundMs)
    if (isGivenUp()) break
    results.push(await runTest(test, snapshot, surface))
  }
  return results
}

async function runTest(test: TestEntry, snapshot: Snapshot, surface: TrySurface): Promise<TestResult> {
  const received = receivedOf(test)
  const calls = new Set<string>()
  const onCall = (module: string, target: string) => void calls.add(`${module} calls ${target}`)
  // Tests may read a service on purpose, so that their calls are reported and not refused.
  const { decision, status, request } = await tryRequest(received, snapshot, surface, {
    dryRun: 'call-out',
    onCall,
  })
  const observed = observe(decision, status)
  const { expect } = test.value
  const mismatches = checkExpectation(expect, observed).map((each) => locate(each, test))
  const passed = mismatches.length === 0
  const unmatched =
    passed || !request ? [] : await findUnmatched(expect, observed, request, snapshot, decision)
  return { test, passed, mismatches, observed, calls: [...calls], unmatched }
}

export function receivedOf({ value }: TestEntry): ReceivedRequest {
  const { endpoint, headers = {}, query = {}, body, bodyText } = value.request
  const text = bodyText ?? (body === undefined ? '' : JSON.stringify(body))
  return {
    endpoint,
    headers: withoutPrototype(headers),
    query: withoutPrototype(query),
    body: Buffer.from(text),
    now: Date.parse(value.now ?? defaultTestTime),
  }
}

function locate(mismatch: ValueMismatch, test: TestEntry): Mismatch {
  return { ...mismatch, place: test.locate(mismatch.path) }
}

/** The names of a received request have no prototype either. */
function withoutPrototype<Value>(names: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.assign(Object.create(null), names)
}
