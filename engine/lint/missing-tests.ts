/** Warns of mappings that no test expects. */

import type { MappingEntry, Origin, TestEntry } from '../config/configuration.ts'
import type { Warnings } from './warnings.ts'

/** `reached` has the mappings that a test's request reaches, where that could be tried. */
export function lintTests(
  mappings: readonly MappingEntry[],
  tests: readonly TestEntry[],
  reached: ReadonlyMap<TestEntry, ReadonlySet<string>>,
  warnings: Warnings,
): void {
  const expected = new Set<string>()
  for (const test of tests) {
    for (const id of [...expectedBy(test), ...(reached.get(test) ?? [])]) expected.add(keyOf(test.origin, id))
  }
  const own = mappings.filter(({ origin }) => origin.kind === 'file')
  const byFile = Map.groupBy(own, ({ origin }) => origin.name)
  for (const entries of byFile.values()) {
    const missing = entries.filter(({ id, origin }) => !expected.has(keyOf(origin, id)))
    const [first] = missing
    if (first === undefined) continue
    if (missing.length > 1 && missing.length === entries.length) reportFile(first, missing.length, warnings)
    else for (const entry of missing) reportMapping(entry, warnings)
  }
}

function expectedBy({ value: { expect } }: TestEntry): readonly string[] {
  return [expect.mapping, ...(expect.actions ?? []).map(({ mapping }) => mapping)].filter(
    (id) => id !== undefined,
  )
}

/** A test counts for the mappings of its own file. */
function keyOf({ kind, name }: Origin, id: string): string {
  return JSON.stringify([kind, name, id])
}

const hint =
  'Under `tests:` of the same file: a name, a request with endpoint and body, and expect: { mapping: … }. `reveille test` runs them.'

function reportFile(first: MappingEntry, count: number, warnings: Warnings): void {
  warnings.add(first, {
    code: 'MISSING_TESTS',
    message: `No test expects any of the ${count} mappings of this file`,
    hint,
  })
}

function reportMapping(entry: MappingEntry, warnings: Warnings): void {
  warnings.add(entry, {
    code: 'MISSING_TESTS',
    message: `No test of this file expects the mapping "${entry.id}"`,
    hint,
  })
}
