/** Describes tests that fail, or call a service, as diagnostics about their files. */

import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { TestResult } from './run-tests.ts'

/**
 * Returns an error for each test that failed, at the first value that is not as expected, and a warning for each test whose
 * transforms called a service.
 */
export function describeTests(results: readonly TestResult[]): Diagnostic[] {
  const failed = results.filter(({ passed }) => !passed).map(describe)
  return [...failed, ...results.filter(({ calls }) => calls.length > 0).map(describeCalls)]
}

function describeCalls({ test, calls }: TestResult): Diagnostic {
  return {
    severity: 'warning',
    code: 'TEST_CALLS_OUT',
    message: `The test "${test.value.name}" calls out: ${calls.join(', ')}`,
    place: test.locate([]),
    hint: 'It does so at each reload, and fails while the service does. Ask `dryRun` of the context before calling, or test such a function alone, with `exampleContext` and a `fetch` of your own.',
  }
}

function describe({ test, mismatches, observed }: TestResult): Diagnostic {
  const [first, ...others] = mismatches
  const expected = first ? `: expected ${first.expected}, got ${first.actual}` : ''
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  const why =
    observed.reason === undefined
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
