/** Warns of mappings that no test expects. */

import type { MappingEntry, TestEntry } from '../config/configuration.ts'
import { overlapsPath } from '../config/values/path-overlap.ts'
import type { Warnings } from './warnings.ts'

/**
 * A test counts for the mappings of its own file that it names. One that names none counts for each mapping that covers its endpoint. A file
 * without any test is reported once.
 */
export function lintTests(
  mappings: readonly MappingEntry[],
  tests: readonly TestEntry[],
  warnings: Warnings,
): void {
  const own = mappings.filter(({ origin }) => origin.kind === 'file')
  for (const [file, entries] of Map.groupBy(own, ({ origin }) => origin.name)) {
    const named = new Set<string>()
    const endpoints = new Set<string>()
    for (const { origin, value } of tests) {
      if (origin.kind !== 'file' || origin.name !== file) continue
      const { request, expect } = value
      const ids = [expect, ...(expect.actions ?? [])].flatMap(({ mapping }) => mapping ?? [])
      for (const id of ids) named.add(id)
      if (ids.length === 0) endpoints.add(request.endpoint)
    }
    const covers = ({ value: { match } }: MappingEntry) =>
      [...endpoints].some((endpoint) => overlapsPath(match?.path, endpoint))
    const missing = entries.filter((entry) => !named.has(entry.id) && !covers(entry))
    const isWhole = missing.length > 1 && missing.length === entries.length
    for (const entry of isWhole ? missing.slice(0, 1) : missing)
      warnings.add(entry, {
        code: 'MISSING_TESTS',
        message: isWhole
          ? `No test expects any of the ${missing.length} mappings of this file`
          : `No test of this file expects the mapping "${entry.id}"`,
        hint: 'Under `tests:` of the same file: a name, a request with endpoint and body, and expect: { mapping: … }. `reveille test` runs them.',
      })
  }
}
