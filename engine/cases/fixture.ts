/** Makes the mapping tests that tests run, and a surface without HTTP. */

import type { Mapping } from '../compile/fixture.ts'
import { snapshotOf } from '../compile/fixture.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Expectation, TestEntry, TestSource } from '../config/configuration.ts'
import { writePath } from '../config/values/path.ts'
import type { Refusal } from '../resolve/model/decision.ts'
import { runTests, type TestResult } from './run-tests.ts'
import type { TrySurface } from './try-request.ts'

/** A surface that takes JSON only, and answers two statuses. */
export const plainSurface: TrySurface = {
  async receive(received, snapshot) {
    if (!snapshot.covers(received.endpoint)) return refusal('NOT_FOUND')
    try {
      const payload: unknown = JSON.parse(Buffer.from(received.body).toString() || '{}')
      return { ...received, payload, rawBody: received.body }
    } catch {
      return refusal('INVALID_JSON')
    }
  },
  statusOf: (decision) => (decision.outcome === 'refused' ? 400 : 200),
}

const refusal = (code: string): Refusal => ({ outcome: 'refused', code, message: 'No.', details: [] })

/** Returns a test whose places show the path as the text of the line. */
export function testOf(expect: Expectation, value: Partial<TestSource> = {}): TestEntry {
  return {
    value: { name: 'a test', request: { endpoint: 'test', body: {} }, expect, ...value },
    origin: { kind: 'file', name: 'mappings/test.yaml' },
    label: 'mappings/test.yaml:9:1',
    locate: (path) => ({
      file: '/etc/reveille/mappings/test.yaml',
      line: 9,
      column: 1,
      text: writePath(path),
    }),
  }
}

interface Situation {
  readonly mappings?: readonly Mapping[]
  readonly body?: unknown
  readonly endpoint?: string
  readonly snapshot?: Snapshot
}

/** Runs one test. Default: there is one mapping, `first`, that asks an agent about `{{title}}`. */
export async function resultOf(expect: Expectation, situation: Situation = {}): Promise<TestResult> {
  const {
    mappings = [{ message: 'See {{title}}' }],
    body = { title: 'crash' },
    endpoint = 'test',
  } = situation
  const snapshot = situation.snapshot ?? (await snapshotOf(mappings))
  const test = testOf(expect, { request: { endpoint, body } })
  const [result] = await runTests({ tests: [test], snapshot, surface: plainSurface })
  if (result === undefined) throw new Error('no result')
  return result
}

/** Returns each mismatch as `path: expected, not actual`. */
export function mismatchesOf({ mismatches }: TestResult): string[] {
  return mismatches.map(({ path, expected, actual }) => `${writePath(path)}: ${expected}, not ${actual}`)
}
