/**
 * Remembers the tests that passed, each with everything that had a say in it, so that a reload runs only those that a
 * change can touch: a transform may call a service, and an edit elsewhere is no reason to call it again.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Configuration, MappingEntry, TestEntry, TestSource } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { Bundle } from '../transform/port.ts'
import type { TestResult } from './run-tests.ts'

/** What tests are run against. */
export interface TestedContent {
  readonly configuration: Pick<Configuration, 'settings' | 'mappings' | 'endpoints'>
  readonly bundles: ReadonlyMap<string, Bundle>
}

/** For one run of tests. */
export interface TestMemory {
  /** The result of a test that passed before, and that nothing has changed since. */
  recall(test: TestEntry): TestResult | undefined
  note(result: TestResult): void
}

interface Settled {
  readonly says: readonly unknown[]
  readonly result: TestResult
}

export function createSettledTests(): (content: TestedContent) => TestMemory {
  let settings: Settings | undefined
  /** A test that did not change is the same object in each load, and so are the mappings. */
  let settled = new WeakMap<TestSource, Settled>()

  return ({ configuration, bundles }) => {
    // Almost any setting may have a say in almost any test.
    if (!isDeepStrictEqual(settings, configuration.settings)) settled = new WeakMap()
    settings = configuration.settings
    const found = findMappings(configuration.mappings)
    const saysOf = (endpoint: string): readonly unknown[] => [
      configuration.endpoints[endpoint],
      ...found(endpoint).flatMap(({ id, value, parameters }) => [
        id,
        value,
        parameters,
        value.transform && bundles.get(value.transform.module)?.digest,
      ]),
    ]
    const known = new Map<string, readonly unknown[]>()
    const says = ({ value }: TestEntry) => {
      const { endpoint } = value.request
      const made = known.get(endpoint) ?? saysOf(endpoint)
      known.set(endpoint, made)
      return made
    }
    return {
      recall(test) {
        const before = settled.get(test.value)
        const isSame = before !== undefined && isSameList(before.says, says(test))
        return isSame ? { ...before.result, test } : undefined
      },
      note(result) {
        if (result.passed) settled.set(result.test.value, { says: says(result.test), result })
        else settled.delete(result.test.value)
      },
    }
  }
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return (
    one.length === other.length &&
    one.every((each, index) => each === other[index] || isDeepStrictEqual(each, other[index]))
  )
}

/** The mappings that may cover an endpoint, in matching order; some that do not are among them. */
function findMappings(mappings: readonly MappingEntry[]): (endpoint: string) => readonly MappingEntry[] {
  const named = new Map<string, number[]>()
  const anywhere: number[] = []
  for (const [position, { value }] of mappings.entries()) {
    const path = value.match?.path
    if (path === undefined || path.includes(':')) anywhere.push(position)
    else named.set(path, [...(named.get(path) ?? []), position])
  }
  return (endpoint) =>
    [...(named.get(endpoint) ?? []), ...anywhere]
      .sort((one, other) => one - other)
      .flatMap((position) => mappings[position] ?? [])
}
