/** Warns of mappings that no test names. */

import type { MappingEntry, Origin, TestEntry } from '../config/configuration.ts'
import type { Warnings } from './warnings.ts'

/** A test counts for the mappings of its own file. A file without any test is reported once. */
export function lintTests(
  mappings: readonly MappingEntry[],
  tests: readonly TestEntry[],
  warnings: Warnings,
): void {
  const keyOf = ({ kind, name }: Origin, id: string | undefined) => JSON.stringify([kind, name, id])
  const expected = new Set(
    tests.flatMap(({ origin, value: { expect } }) =>
      [expect, ...(expect.actions ?? [])].map(({ mapping }) => keyOf(origin, mapping)),
    ),
  )
  const own = mappings.filter(({ origin }) => origin.kind === 'file')
  for (const entries of Map.groupBy(own, ({ origin }) => origin.name).values()) {
    const missing = entries.filter(({ id, origin }) => !expected.has(keyOf(origin, id)))
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
