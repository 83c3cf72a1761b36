/** Runs checks side by side, each for a limited time, so that none can stop the others. */

import { CommandFailure } from '../command-failure.ts'
import { type Check, notChecked, type Result } from './check.ts'
import { NotChecked } from './not-checked.ts'
import type { Subject } from './subject.ts'

export interface Checked {
  readonly check: Check
  readonly results: readonly Result[]
}

/** The time for one check, which is longer than any single question takes. */
const usualLimitMs = 15_000

/** Returns the results in the order of the checks. */
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
  // The message may quote a secret, while the code is only a name.
  const { code } = error as { readonly code?: unknown }
  return new NotChecked('CHECK_FAILED', typeof code === 'string' ? `it failed: ${code}` : 'it failed')
}

function clauseOf(sentence: string): string {
  return sentence.split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
}
