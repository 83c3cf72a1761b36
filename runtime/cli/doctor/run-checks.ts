/** Owns how checks are run: side by side, each for a while only, and none able to end the others. */

import { CommandFailure } from '../command-failure.ts'
import { type Check, NotChecked, notChecked, type Result } from './check.ts'
import type { Subject } from './subject.ts'

export interface Checked {
  readonly check: Check
  readonly results: readonly Result[]
}

/** Of one check; longer than any question that it asks. */
const usualLimitMs = 15_000

/** In the order of the checks. */
export function runChecks(
  checks: readonly Check[],
  subject: Subject,
  limitMs = usualLimitMs,
): Promise<readonly Checked[]> {
  return Promise.all(
    checks.map(async (check) => ({ check, results: [await runCheck(check, subject, limitMs)].flat() })),
  )
}

async function runCheck(
  check: Check,
  subject: Subject,
  limitMs: number,
): Promise<Result | readonly Result[]> {
  const late = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.abort()
    reject(new NotChecked('CHECK_TIMEOUT', `it did not end within ${limitMs / 1000} s`))
  }, limitMs)
  try {
    return await Promise.race([promise, check.run(subject, late.signal)])
  } catch (error) {
    return notChecked(reasonOf(error))
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): Pick<NotChecked, 'code' | 'message' | 'fix'> {
  if (error instanceof NotChecked) return error
  if (error instanceof CommandFailure) return new NotChecked('GATEWAY_ANSWER', clauseOf(error.message))
  // Its message may quote what nobody should read; its code is a name.
  const { code } = error as { readonly code?: unknown }
  return new NotChecked('CHECK_FAILED', typeof code === 'string' ? `it failed: ${code}` : 'it failed')
}

function clauseOf(sentence: string): string {
  return sentence.split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
}
