/**
 * Caches the results of tests that passed, each with all its inputs, so that a reload runs only the tests that a change can
 * affect. A transform may call a service, and an edit elsewhere is no reason to call it again.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Configuration, MappingEntry, TestEntry, TestSource } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { Bundle } from '../transform/port.ts'
import type { TestCache, TestResult } from './run-tests.ts'

/** Content that tests run against. */
export interface TestedContent {
  readonly configuration: Pick<Configuration, 'settings' | 'mappings' | 'endpoints'>
  readonly bundles: ReadonlyMap<string, Bundle>
}

interface CachedResult {
  readonly inputs: readonly unknown[]
  readonly result: TestResult
}

export function createTestCache(): (content: TestedContent) => TestCache {
  let settings: Settings | undefined
  /** A test that did not change is the same object in each load, and so are the mappings. */
  let results = new WeakMap<TestSource, CachedResult>()

  return ({ configuration, bundles }) => {
    // Almost any setting may change the result of almost any test.
    if (!isDeepStrictEqual(settings, configuration.settings)) results = new WeakMap()
    settings = configuration.settings
    const mappingsFor = findMappings(configuration.mappings)
    const endpointInputs = (endpoint: string): readonly unknown[] => [
      configuration.endpoints[endpoint],
      ...mappingsFor(endpoint).flatMap(({ id, value, parameters }) => [
        id,
        value,
        parameters,
        value.transform && bundles.get(value.transform.module)?.digest,
      ]),
    ]
    const byEndpoint = new Map<string, readonly unknown[]>()
    const inputsOf = ({ value }: TestEntry) => {
      const { endpoint } = value.request
      const inputs = byEndpoint.get(endpoint) ?? endpointInputs(endpoint)
      byEndpoint.set(endpoint, inputs)
      return inputs
    }
    return {
      get(test) {
        const cached = results.get(test.value)
        const isSame = cached !== undefined && isSameList(cached.inputs, inputsOf(test))
        return isSame ? { ...cached.result, test } : undefined
      },
      put(result) {
        if (result.passed) results.set(result.test.value, { inputs: inputsOf(result.test), result })
        else results.delete(result.test.value)
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

/** Returns the mappings that may cover an endpoint, in matching order; a few that do not are among them. */
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
