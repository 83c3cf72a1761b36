/** Owns what is wrong with the rates of a policy, beyond the shape of each. */

import type { EndpointPolicy } from '../configuration.ts'
import type { Finding } from '../diagnostic/diagnostic.ts'
import { type Path, writePath } from '../path.ts'
import { parseRate, type Rate } from '../rate.ts'

/** Rates are counted in memory, which a restart forgets: over a longer time they would be no promise. */
const longestMs = 86_400_000

export function checkRates(
  { rate = {} }: EndpointPolicy,
  path: Path,
  report: (finding: Finding, severity: 'error' | 'warning') => void,
): void {
  const pathOf = (key: keyof typeof rate) => [...path, 'rate', key]
  for (const key of ['endpoint', 'client'] as const) {
    if (rate[key] === undefined || parseRate(rate[key]).windowMs <= longestMs) continue
    const message = `\`${writePath(pathOf(key))}\` counts for longer than a day`
    const hint = 'At most 1d: what was counted is in memory, and a restart forgets it.'
    report({ path: pathOf(key), code: 'INVALID_VALUE', message, hint }, 'error')
  }
  if (rate.endpoint === undefined || rate.client === undefined) return
  if (!isWithin(parseRate(rate.endpoint), parseRate(rate.client))) return
  const message = `\`${writePath(pathOf('client'))}\` has no effect: \`endpoint\` allows no more to all clients together`
  const hint = 'Make it lower than `endpoint`, or remove it.'
  report({ path: pathOf('client'), code: 'UNUSED_FIELD', message, hint }, 'warning')
}

/** Whether whoever keeps to the first rate keeps to the second one, too. */
function isWithin(first: Rate, second: Rate): boolean {
  return first.most * Math.ceil(second.windowMs / first.windowMs) <= second.most
}
