/** Owns tokens: which counts of a runner are believed, and what several attempts come to. */

import type { Usage } from '@reveille/kit'

const counts = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const

/** A plugin's types are a promise; what the store could not keep would cost the whole answer. */
export function readUsage(usage: Usage | undefined): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  return pick((count) => (isCount(usage[count]) ? usage[count] : undefined))
}

/** Attempts that report nothing add nothing. Undefined where none reports anything. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other
  return pick((count) =>
    one[count] === undefined && other[count] === undefined ? undefined : sumOf(one[count], other[count]),
  )
}

/** What budgets count: input and output together. The cached are part of the one, the thinking of the other. */
export function tokensOf(usage: Usage | undefined): number {
  return sumOf(usage?.inputTokens, usage?.outputTokens)
}

/** What a vendor counts may be nonsense; what is no exact number any more could not be kept. */
function sumOf(one = 0, other = 0): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}

function pick(countIn: (count: (typeof counts)[number]) => number | undefined): Usage {
  const known = counts.flatMap((count) => {
    const value = countIn(count)
    return value === undefined ? [] : [[count, value] as const]
  })
  return Object.fromEntries(known)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
