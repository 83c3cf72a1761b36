/** Owns how tests that fail are told as findings about the files that carry them. */

import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { TestResult } from './run-tests.ts'

/** One for each test that failed, at the first thing that was not as expected. */
export function describeTestFailures(results: readonly TestResult[]): Diagnostic[] {
  return results.filter(({ passed }) => !passed).map(describe)
}

function describe({ test, mismatches, observed }: TestResult): Diagnostic {
  const [first, ...others] = mismatches
  const expected = first ? `: expected ${first.expected}, got ${first.actual}` : ''
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  const why =
    observed?.reason === undefined
      ? ''
      : `It said: ${observed.reason}${/[.?!]$/.test(observed.reason) ? '' : '.'} `
  return {
    severity: 'error',
    code: 'TEST_FAILED',
    message: `The test "${test.value.name}" fails${expected}${more}`,
    place: first?.place ?? test.locate([]),
    hint: `${why}\`reveille test\` shows the whole difference.`,
  }
}
