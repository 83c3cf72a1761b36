/** Finds mistakes in `catchUp` that its provider's plugin cannot know: whether there is a provider, and how often it is asked. */

import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { CatchUpPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { parseDuration } from '../values/duration.ts'

export function* catchUpRules(
  endpoint: string,
  { every, lookBack }: CatchUpPolicy,
  verify: VerifyPolicy | undefined,
): Iterable<Finding> {
  if (endpoint === 'wake' || endpoint === 'agent') {
    yield noEffect(['catchUp'], `no provider sends to \`${endpoint}\``)
    return
  }
  if (verify?.provider === undefined) {
    const problem = 'asks the provider of `verify.provider`, and there is none'
    const hint = 'Write `verify:` with the provider and its secret, or remove it.'
    yield { path: ['catchUp'], at: 'key', code: 'CATCH_UP_UNSUPPORTED', problem, hint }
    return
  }
  const invalid = (key: string, problem: string, hint: string): Finding => {
    return { path: ['catchUp', key], code: 'INVALID_VALUE', problem, hint }
  }
  const everyMs = parseDuration(every)
  if (everyMs < 60_000) {
    const hint = 'The API allows a limited number of calls: write 1m, or more.'
    yield invalid('every', 'is shorter than 1m', hint)
  }
  if (everyMs >= parseDuration(lookBack)) {
    const problem = `is not longer than \`every\` (${every}), so that something could be missed between two times`
    yield invalid('lookBack', problem, 'Write a longer `lookBack`, or a shorter `every`.')
  }
}
