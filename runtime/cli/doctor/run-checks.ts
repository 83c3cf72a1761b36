/** Owns how checks are run: side by side, each for a while only, and none able to end the others. */

import type { Check, Result } from './check.ts'
import type { Subject } from './subject.ts'

export interface Checked {
  readonly check: Check
  readonly results: readonly Result[]
}

/** Of one check. Longer than any question that it asks. */
const usualLimitMs = 15_000

/** In the order of the checks. */
export function runChecks(
  checks: readonly Check[],
  subject: Subject,
  limitMs = usualLimitMs,
): Promise<readonly Checked[]> {
  return Promise.all(
    checks.map(async (check) => ({ check, results: await resultsOf(check, subject, limitMs) })),
  )
}

async function resultsOf(check: Check, subject: Subject, limitMs: number): Promise<readonly Result[]> {
  const late = new AbortController()
  const { promise, resolve } = Promise.withResolvers<readonly Result[]>()
  const timer = setTimeout(() => {
    late.abort()
    resolve([notEnded('CHECK_TIMEOUT', `it did not end within ${limitMs / 1000} s`)])
  }, limitMs)
  try {
    return await Promise.race([promise, check.run(subject, late.signal)])
  } catch (error) {
    // The message may quote what nobody should read; the code is a name.
    const { code } = error as { code?: unknown }
    return [notEnded('CHECK_FAILED', typeof code === 'string' ? `it failed: ${code}` : 'it failed')]
  } finally {
    clearTimeout(timer)
  }
}

function notEnded(code: string, message: string): Result {
  return { state: 'not-checked', code, message }
}
