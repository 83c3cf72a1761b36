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
    const ofFile = tests.filter(({ origin }) => origin.kind === 'file' && origin.name === file)
    const missing = entries.filter((entry) => !ofFile.some((test) => isExpectedBy(entry, test)))
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

function isExpectedBy({ id, value: { match } }: MappingEntry, { value: { request, expect } }: TestEntry) {
  const named = [expect, ...(expect.actions ?? [])].flatMap(({ mapping }) => mapping ?? [])
  return named.length > 0 ? named.includes(id) : overlapsPath(match?.path, request.endpoint)
}
